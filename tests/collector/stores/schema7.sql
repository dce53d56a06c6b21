CREATE TABLE public.access (
    survey text NOT NULL,
    role text NOT NULL,
    hash bytea NOT NULL,
    name text NOT NULL,
    made bigint NOT NULL,
    expires bigint,
    revoked bigint
);
CREATE TABLE public.cells (
    survey bigint NOT NULL,
    period bigint NOT NULL,
    question text NOT NULL,
    shard bigint NOT NULL,
    chunk bigint NOT NULL,
    counts bytea NOT NULL
);
CREATE TABLE public.deniable_schema (
    version integer NOT NULL
);
CREATE TABLE public.invitations (
    survey bigint NOT NULL,
    hash bytea NOT NULL,
    state bigint NOT NULL,
    blinded bytea
);
CREATE TABLE public.issuers (
    survey text NOT NULL,
    id text NOT NULL,
    place bigint NOT NULL,
    public bytea NOT NULL,
    private bytea NOT NULL,
    state text NOT NULL
);
CREATE TABLE public.kept (
    number bigint NOT NULL,
    survey bigint NOT NULL,
    period bigint NOT NULL,
    part bytea NOT NULL,
    reports bigint NOT NULL,
    payload bytea NOT NULL
);
ALTER TABLE public.kept ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.kept_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.people (
    survey bigint NOT NULL,
    period bigint NOT NULL,
    shard bigint NOT NULL,
    n bigint NOT NULL
);
CREATE TABLE public.rounds (
    survey bigint NOT NULL,
    round bigint NOT NULL,
    spec text NOT NULL
);
CREATE TABLE public.seen (
    survey bigint NOT NULL,
    period bigint NOT NULL,
    id bytea NOT NULL
);
CREATE TABLE public.segments (
    survey bigint NOT NULL,
    name text NOT NULL,
    last bigint NOT NULL
);
CREATE TABLE public.spent (
    survey bigint NOT NULL,
    nonce bytea NOT NULL
);
CREATE TABLE public.store (
    id text NOT NULL,
    probe bigint NOT NULL
);
CREATE TABLE public.surveys (
    number bigint NOT NULL,
    id text NOT NULL,
    fingerprint text NOT NULL,
    spec text NOT NULL,
    oldest bigint DEFAULT 0 NOT NULL,
    stage bigint DEFAULT 0 NOT NULL,
    title text,
    delete_after bigint,
    listed bigint DEFAULT 0 NOT NULL,
    source text
);
CREATE TABLE public.tallies (
    survey bigint NOT NULL,
    period bigint NOT NULL,
    question text NOT NULL,
    shard bigint NOT NULL,
    n bigint NOT NULL,
    counts bytea NOT NULL
);
CREATE TABLE public.tokens (
    role text NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE public.transfers (
    survey text NOT NULL,
    source text NOT NULL,
    number bigint NOT NULL
);
INSERT INTO public.access VALUES ('sampled', 'submit', '\x2bdbf66d0b762da55797c6eccf4c58c589d583cb8347f385738efdb40af47b61', 'submit', 1767225600, NULL, NULL);
INSERT INTO public.access VALUES ('sampled', 'results', '\x11034ca7aa30c9eaccedc6ba351e88b7f544f901173fc38fe13ff21956ae873f', 'results', 1767225600, NULL, NULL);
INSERT INTO public.access VALUES ('one', 'submit', '\x2bdbf66d0b762da55797c6eccf4c58c589d583cb8347f385738efdb40af47b61', 'submit', 1767225600, NULL, NULL);
INSERT INTO public.access VALUES ('one', 'results', '\x11034ca7aa30c9eaccedc6ba351e88b7f544f901173fc38fe13ff21956ae873f', 'results', 1767225600, NULL, NULL);
INSERT INTO public.deniable_schema VALUES (7);
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, '\x0600000000000000', 1, '\x000006');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (2, 1, 1, '\x0500000000000000', 1, '\x0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (3, 1, 1, '\x0500000000000000', 1, '\x0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (4, 1, 1, '\x0500000000000000', 1, '\x0006');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (5, 1, 1, '\x0500000000000000', 1, '\x000a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (6, 1, 1, '\x0500000000000000', 1, '\x000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (7, 1, 0, '\x0300000000000000', 1, '\x004000');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (8, 1, 0, '\x0300000000000000', 1, '\x006e00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (9, 1, 1, '\x0300000000000000', 1, '\x00db00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (10, 1, 0, '\x0500000000000000', 1, '\x0106');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (11, 1, 1, '\x0500000000000000', 1, '\x0106');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (12, 1, 1, '\x0500000000000000', 1, '\x010a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (13, 1, 0, '\x0300000000000000', 1, '\x010c00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (14, 1, 1, '\x0300000000000000', 1, '\x010f01');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (15, 1, 1, '\x0300000000000000', 1, '\x012900');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (16, 1, 0, '\x0300000000000000', 1, '\x013800');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (17, 1, 0, '\x0300000000000000', 1, '\x017700');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (18, 1, 0, '\x0500000000000000', 1, '\x0206');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (19, 1, 0, '\x0500000000000000', 1, '\x020c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (20, 1, 1, '\x0300000000000000', 1, '\x022000');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (21, 1, 0, '\x0300000000000000', 1, '\x026e00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (22, 1, 1, '\x0300000000000000', 1, '\x029600');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (23, 1, 0, '\x0300000000000000', 1, '\x02d100');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (24, 1, 1, '\x0600000000000000', 1, '\x06010c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (25, 1, 0, '\x0600000000000000', 1, '\x270005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (26, 1, 1, '\x0600000000000000', 1, '\x420003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (27, 1, 0, '\x0600000000000000', 1, '\x43000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (28, 1, 0, '\x0600000000000000', 1, '\x470003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (29, 1, 0, '\x0600000000000000', 1, '\x6a0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (30, 1, 1, '\x0600000000000000', 1, '\x83000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (31, 1, 0, '\x0600000000000000', 1, '\xa0000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (32, 1, 0, '\x0600000000000000', 1, '\xa5000a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (33, 1, 1, '\x0600000000000000', 1, '\xb00003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (34, 1, 1, '\x0600000000000000', 1, '\xb90005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (35, 1, 0, '\x0600000000000000', 1, '\xbe000a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (36, 1, 1, '\x0600000000000000', 1, '\xc80006');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (37, 1, 0, '\x0600000000000000', 1, '\xda0009');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (38, 1, 0, '\x0600000000000000', 1, '\xe90003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (39, 1, 1, '\x0600000000000000', 1, '\xfd0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (40, 1, 0, '\x0600000000000000', 1, '\xff0003');
INSERT INTO public.people VALUES (1, 0, 0, 20);
INSERT INTO public.people VALUES (1, 1, 0, 20);
INSERT INTO public.people VALUES (2, 0, 0, 30);
INSERT INTO public.seen VALUES (1, 0, '\x037f3079907426b8b31d175aaab63317');
INSERT INTO public.seen VALUES (1, 0, '\x107593a03735046a172dbec4faed977c');
INSERT INTO public.seen VALUES (1, 0, '\x180cf99533717cad7378685dce3c53c1');
INSERT INTO public.seen VALUES (1, 0, '\x1910423eae34a01ca3211d103181c082');
INSERT INTO public.seen VALUES (1, 0, '\x4ad413a474b563c9408485bf5cef27b8');
INSERT INTO public.seen VALUES (1, 0, '\x4c2a0a1283de2dd4ef7d370235350a9a');
INSERT INTO public.seen VALUES (1, 0, '\x4c917f65dfacb1aee1baa77d48b1a77c');
INSERT INTO public.seen VALUES (1, 0, '\x4cc96d4d2f05403fffa4448b4c0ddaf3');
INSERT INTO public.seen VALUES (1, 0, '\x4f0627ad3ce05a65b43b3886ade9fc42');
INSERT INTO public.seen VALUES (1, 0, '\x531969294a52bddca59b4271f8d14ef3');
INSERT INTO public.seen VALUES (1, 0, '\x6aac09b342d4a60b2ccfc8ac3a4513f4');
INSERT INTO public.seen VALUES (1, 0, '\x9e33e2eb4d104a6bf6ddfd97794525fc');
INSERT INTO public.seen VALUES (1, 0, '\xc887585d2e8c4deaa357948f3619902a');
INSERT INTO public.seen VALUES (1, 0, '\xd46e9497036cb9642cc4f1668508dd3b');
INSERT INTO public.seen VALUES (1, 0, '\xd65407682b361b0ae9aed8e827507f48');
INSERT INTO public.seen VALUES (1, 0, '\xd6dbabd92a0044b91619342d7c309fe3');
INSERT INTO public.seen VALUES (1, 0, '\xf2c354d02ccae9681c2c66b8ce57228b');
INSERT INTO public.seen VALUES (1, 0, '\xf5589c0d9f7aa9506eb51f9213d56106');
INSERT INTO public.seen VALUES (1, 0, '\xf56ea19f45955f314953dcaa9369e629');
INSERT INTO public.seen VALUES (1, 0, '\xf87c67f39af916c887e475c8bb80af40');
INSERT INTO public.seen VALUES (1, 1, '\x31f22f27f63922446f192f7ad7909b82');
INSERT INTO public.seen VALUES (1, 1, '\x4c3846b9219a9221f78961c5314df468');
INSERT INTO public.seen VALUES (1, 1, '\x54b97611e2dd351d8fdcc226150435ee');
INSERT INTO public.seen VALUES (1, 1, '\x563b40fce699151386266b6949ddc82f');
INSERT INTO public.seen VALUES (1, 1, '\x5781f70ecc817bac7726c66080037806');
INSERT INTO public.seen VALUES (1, 1, '\x7327862a10d04f59053862f7e8cc1e3c');
INSERT INTO public.seen VALUES (1, 1, '\x973d0302d995bd366c2565e52ca8037d');
INSERT INTO public.seen VALUES (1, 1, '\x99f50ca33044f7fbca9cc6d5446a1987');
INSERT INTO public.seen VALUES (1, 1, '\xa02743f675a924c1b4d49b851d989e59');
INSERT INTO public.seen VALUES (1, 1, '\xa5e8f9cfcc5e0484b90947920d63fae3');
INSERT INTO public.seen VALUES (1, 1, '\xbb3406815bffb07d0a8c21094576dc4d');
INSERT INTO public.seen VALUES (1, 1, '\xc1f45f042ae3a1c496aa1e20e4a13c8c');
INSERT INTO public.seen VALUES (1, 1, '\xc2efb11a1fc49a0b3ebf614fd6db2554');
INSERT INTO public.seen VALUES (1, 1, '\xc8ea75922781bd3fe0b0a18ec7523c3a');
INSERT INTO public.seen VALUES (1, 1, '\xca0044ce0051fa746aa99ae82dd75ad9');
INSERT INTO public.seen VALUES (1, 1, '\xdcc973405c745889af7fe7ed9fb4dd1e');
INSERT INTO public.seen VALUES (1, 1, '\xed39a8785f49d06b04ddb0d4aabf01ad');
INSERT INTO public.seen VALUES (1, 1, '\xf43d269c17ee2f2122f9a45f4c09703c');
INSERT INTO public.seen VALUES (1, 1, '\xf6db3b177e9db67aeda69f8269968d8e');
INSERT INTO public.seen VALUES (1, 1, '\xfe48d7a0607620be4a9321a0286b4577');
INSERT INTO public.seen VALUES (2, 0, '\x146bb7f91812c78f1ffe5c4119719d4b');
INSERT INTO public.seen VALUES (2, 0, '\x169dd6ea654c7d6cb7cc4770afec84d8');
INSERT INTO public.seen VALUES (2, 0, '\x201bfa6172f97fd2ebdad90650fd6437');
INSERT INTO public.seen VALUES (2, 0, '\x22c327c1617a5aed41022211fe9ed6d4');
INSERT INTO public.seen VALUES (2, 0, '\x26d6104a9de01ba02e2b0ce67fdec809');
INSERT INTO public.seen VALUES (2, 0, '\x2ac5076943f1a839adfbbe79e49478ee');
INSERT INTO public.seen VALUES (2, 0, '\x37556b49fdac5b59a832ff7829e5d9c1');
INSERT INTO public.seen VALUES (2, 0, '\x42589eaed3162568433962e575622e8f');
INSERT INTO public.seen VALUES (2, 0, '\x6210a249f766e4cd9e88a62a824ab799');
INSERT INTO public.seen VALUES (2, 0, '\x636fbdd927338db77f5dc1a936852193');
INSERT INTO public.seen VALUES (2, 0, '\x7051f56009c1075310f3845cacb8c1d0');
INSERT INTO public.seen VALUES (2, 0, '\x734ca1e7e3aee03046622a8059c77c79');
INSERT INTO public.seen VALUES (2, 0, '\x74e2df686ec9d45ba0bbc5250e3dce57');
INSERT INTO public.seen VALUES (2, 0, '\x7f466e08d8c2c22b321d435b49833d52');
INSERT INTO public.seen VALUES (2, 0, '\x98da3ea1140b088906c0c792a115403a');
INSERT INTO public.seen VALUES (2, 0, '\x9fad15791b101faa92ca8d2dba13f3d8');
INSERT INTO public.seen VALUES (2, 0, '\xa25fd33d461169239da390be99a9530b');
INSERT INTO public.seen VALUES (2, 0, '\xb456ce1f2c8bbf36dada17521f48b08b');
INSERT INTO public.seen VALUES (2, 0, '\xb6eab5090298a775a70e058a5c3e7730');
INSERT INTO public.seen VALUES (2, 0, '\xc11ecc3bdd3ec9f872cde9204b637d75');
INSERT INTO public.seen VALUES (2, 0, '\xc7a3ea6f5d083ece495b580f99db287c');
INSERT INTO public.seen VALUES (2, 0, '\xca06447450edbf3370ce0c74023c6f4f');
INSERT INTO public.seen VALUES (2, 0, '\xcd4efbf21f707ca6e7ca10c2fe8b7a79');
INSERT INTO public.seen VALUES (2, 0, '\xd2a8d656b672cfe29b1221308b1cf683');
INSERT INTO public.seen VALUES (2, 0, '\xd5516f0dddd7272c693cd2d3373a623b');
INSERT INTO public.seen VALUES (2, 0, '\xd9bc12a1b4ac28fa286216a9a2eaa7ca');
INSERT INTO public.seen VALUES (2, 0, '\xdbfd3556e14f9cbf6d6d00e115f9f554');
INSERT INTO public.seen VALUES (2, 0, '\xeb42fa7bfc0592da7749d112f7832bda');
INSERT INTO public.seen VALUES (2, 0, '\xebf4eab164a620563172f851340d6dd8');
INSERT INTO public.seen VALUES (2, 0, '\xef652327cc691d46347a6e20167f39ee');
INSERT INTO public.store VALUES ('1b31c81852b6', 1);
INSERT INTO public.surveys VALUES (1, 'sampled', 'f2b38dd5c1537585fe8a9798862fe01a', '{"format":"deniable survey 1","question":[{"ask":"a","choices":["yes","no"],"id":"a","kind":"category","mechanism":{"domain":{"kind":"categories","labels":["yes","no","(no answer)"]},"epsilon":0.5,"mechanism":"direct-1","odds":"54516085/33065677"},"optional":true,"weight":1.0},{"ask":"b","choices":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"id":"b","kind":"category","mechanism":{"arc":6,"domain":{"kind":"categories","size":17},"epsilon":0.5,"mechanism":"wheel-1","odds":"54516085/33065677","prime":17},"weight":1.0},{"ask":"c","high":1.5,"id":"c","kind":"number","low":-1.5,"mechanism":{"domain":{"clip":true,"high":1.5,"kind":"interval","low":-1.5,"steps":3},"epsilon":0.5,"mechanism":"subset-1","odds":"54516085/33065677","size":2},"steps":3,"weight":1.0}],"survey":{"budget":"sampled","closes":1768089600,"epsilon":1.0,"id":"sampled","keep_reports":true,"late":1,"minimum_reports":1,"opens":1767225600,"people":10000,"sample":2,"title":"sampled","window":86400}}', 0, 0, NULL, NULL, 0, NULL);
INSERT INTO public.surveys VALUES (2, 'one', 'e7f3577aeea4c4810ebd9e94ba42f0bc', '{"format":"deniable survey 1","question":[{"ask":"Which town?","choices":["Lyon","Paris","Nice","Lille","Metz","Brest"],"id":"town","kind":"category","mechanism":{"domain":{"kind":"categories","labels":["Lyon","Paris","Nice","Lille","Metz","Brest"]},"epsilon":1.0,"mechanism":"subset-1","odds":"99402293/36568060","size":2},"weight":1.0}],"survey":{"budget":"equal","epsilon":1.0,"id":"one","keep_reports":false,"late":1,"minimum_reports":10,"people":100000,"sample":1,"title":"one"}}', 0, 0, NULL, NULL, 0, NULL);
INSERT INTO public.tallies VALUES (1, 0, 'a', 0, 10, '\x020000000000000004000000000000000400000000000000');
INSERT INTO public.tallies VALUES (1, 0, 'b', 0, 17, '\x06000000000000000600000000000000060000000000000005000000000000000900000000000000080000000000000008000000000000000700000000000000050000000000000005000000000000000300000000000000030000000000000002000000000000000a00000000000000060000000000000009000000000000000400000000000000');
INSERT INTO public.tallies VALUES (1, 0, 'c', 0, 13, '\x0600000000000000070000000000000007000000000000000600000000000000');
INSERT INTO public.tallies VALUES (1, 1, 'a', 0, 12, '\x060000000000000004000000000000000200000000000000');
INSERT INTO public.tallies VALUES (1, 1, 'b', 0, 13, '\x04000000000000000900000000000000050000000000000003000000000000000300000000000000050000000000000006000000000000000600000000000000040000000000000002000000000000000300000000000000050000000000000006000000000000000400000000000000050000000000000004000000000000000400000000000000');
INSERT INTO public.tallies VALUES (1, 1, 'c', 0, 15, '\x060000000000000008000000000000000b000000000000000500000000000000');
INSERT INTO public.tallies VALUES (2, 0, 'town', 0, 30, '\x070000000000000005000000000000001400000000000000090000000000000009000000000000000a00000000000000');
SELECT pg_catalog.setval('public.kept_number_seq', 40, true);
ALTER TABLE ONLY public.access
    ADD CONSTRAINT access_pkey PRIMARY KEY (survey, role, hash);
ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_pkey1 PRIMARY KEY (survey, period, question, shard, chunk);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (survey, hash);
ALTER TABLE ONLY public.issuers
    ADD CONSTRAINT issuers_pkey PRIMARY KEY (survey, id);
ALTER TABLE ONLY public.kept
    ADD CONSTRAINT kept_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey1 PRIMARY KEY (survey, period, shard);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_pkey PRIMARY KEY (survey, round);
ALTER TABLE ONLY public.seen
    ADD CONSTRAINT seen_pkey1 PRIMARY KEY (survey, period, id);
ALTER TABLE ONLY public.segments
    ADD CONSTRAINT segments_pkey PRIMARY KEY (survey);
ALTER TABLE ONLY public.spent
    ADD CONSTRAINT spent_pkey PRIMARY KEY (survey, nonce);
ALTER TABLE ONLY public.store
    ADD CONSTRAINT store_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_id_key UNIQUE (id);
ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT tallies_pkey1 PRIMARY KEY (survey, period, question, shard);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (role, hash);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (survey);

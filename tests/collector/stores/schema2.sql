CREATE TABLE public.deniable_schema (
    version integer NOT NULL
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
    n bigint NOT NULL
);
CREATE TABLE public.seen (
    survey bigint NOT NULL,
    id bytea NOT NULL,
    period bigint NOT NULL
);
CREATE TABLE public.surveys (
    number bigint NOT NULL,
    id text NOT NULL,
    fingerprint text NOT NULL,
    spec text NOT NULL
);
CREATE TABLE public.tallies (
    survey bigint NOT NULL,
    period bigint NOT NULL,
    question text NOT NULL,
    n bigint NOT NULL,
    counts bytea NOT NULL
);
CREATE TABLE public.tokens (
    role text NOT NULL,
    hash bytea NOT NULL
);
INSERT INTO public.deniable_schema VALUES (2);
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (1, 1, 0, '\x0600000000000000', 1, '\xff0003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (2, 1, 0, '\x0600000000000000', 1, '\xe90003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (3, 1, 0, '\x0500000000000000', 1, '\x0206');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (4, 1, 0, '\x0300000000000000', 1, '\x02d100');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (5, 1, 0, '\x0600000000000000', 1, '\xda0009');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (6, 1, 0, '\x0300000000000000', 1, '\x006e00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (7, 1, 0, '\x0600000000000000', 1, '\x43000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (8, 1, 0, '\x0300000000000000', 1, '\x017700');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (9, 1, 0, '\x0600000000000000', 1, '\xa5000a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (10, 1, 0, '\x0600000000000000', 1, '\x470003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (11, 1, 0, '\x0500000000000000', 1, '\x0106');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (12, 1, 0, '\x0500000000000000', 1, '\x020c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (13, 1, 0, '\x0600000000000000', 1, '\x270005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (14, 1, 0, '\x0600000000000000', 1, '\xbe000a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (15, 1, 0, '\x0300000000000000', 1, '\x010c00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (16, 1, 0, '\x0600000000000000', 1, '\x6a0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (17, 1, 0, '\x0300000000000000', 1, '\x013800');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (18, 1, 0, '\x0600000000000000', 1, '\xa0000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (19, 1, 0, '\x0300000000000000', 1, '\x026e00');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (20, 1, 0, '\x0300000000000000', 1, '\x004000');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (21, 1, 1, '\x0500000000000000', 1, '\x000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (22, 1, 1, '\x0300000000000000', 1, '\x012900');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (23, 1, 1, '\x0600000000000000', 1, '\xb90005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (24, 1, 1, '\x0600000000000000', 1, '\xb00003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (25, 1, 1, '\x0300000000000000', 1, '\x010f01');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (26, 1, 1, '\x0600000000000000', 1, '\x000006');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (27, 1, 1, '\x0500000000000000', 1, '\x0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (28, 1, 1, '\x0500000000000000', 1, '\x0006');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (29, 1, 1, '\x0600000000000000', 1, '\x420003');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (30, 1, 1, '\x0600000000000000', 1, '\x83000c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (31, 1, 1, '\x0600000000000000', 1, '\xc80006');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (32, 1, 1, '\x0500000000000000', 1, '\x010a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (33, 1, 1, '\x0600000000000000', 1, '\xfd0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (34, 1, 1, '\x0500000000000000', 1, '\x0106');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (35, 1, 1, '\x0300000000000000', 1, '\x022000');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (36, 1, 1, '\x0600000000000000', 1, '\x06010c');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (37, 1, 1, '\x0500000000000000', 1, '\x000a');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (38, 1, 1, '\x0500000000000000', 1, '\x0005');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (39, 1, 1, '\x0300000000000000', 1, '\x029600');
INSERT INTO public.kept OVERRIDING SYSTEM VALUE VALUES (40, 1, 1, '\x0300000000000000', 1, '\x00db00');
INSERT INTO public.people VALUES (1, 0, 20);
INSERT INTO public.people VALUES (1, 1, 20);
INSERT INTO public.people VALUES (2, 0, 30);
INSERT INTO public.seen VALUES (1, '\x037f3079907426b8b31d175aaab63317', 0);
INSERT INTO public.seen VALUES (1, '\x107593a03735046a172dbec4faed977c', 0);
INSERT INTO public.seen VALUES (1, '\x180cf99533717cad7378685dce3c53c1', 0);
INSERT INTO public.seen VALUES (1, '\x1910423eae34a01ca3211d103181c082', 0);
INSERT INTO public.seen VALUES (1, '\x31f22f27f63922446f192f7ad7909b82', 1);
INSERT INTO public.seen VALUES (1, '\x4ad413a474b563c9408485bf5cef27b8', 0);
INSERT INTO public.seen VALUES (1, '\x4c2a0a1283de2dd4ef7d370235350a9a', 0);
INSERT INTO public.seen VALUES (1, '\x4c3846b9219a9221f78961c5314df468', 1);
INSERT INTO public.seen VALUES (1, '\x4c917f65dfacb1aee1baa77d48b1a77c', 0);
INSERT INTO public.seen VALUES (1, '\x4cc96d4d2f05403fffa4448b4c0ddaf3', 0);
INSERT INTO public.seen VALUES (1, '\x4f0627ad3ce05a65b43b3886ade9fc42', 0);
INSERT INTO public.seen VALUES (1, '\x531969294a52bddca59b4271f8d14ef3', 0);
INSERT INTO public.seen VALUES (1, '\x54b97611e2dd351d8fdcc226150435ee', 1);
INSERT INTO public.seen VALUES (1, '\x563b40fce699151386266b6949ddc82f', 1);
INSERT INTO public.seen VALUES (1, '\x5781f70ecc817bac7726c66080037806', 1);
INSERT INTO public.seen VALUES (1, '\x6aac09b342d4a60b2ccfc8ac3a4513f4', 0);
INSERT INTO public.seen VALUES (1, '\x7327862a10d04f59053862f7e8cc1e3c', 1);
INSERT INTO public.seen VALUES (1, '\x973d0302d995bd366c2565e52ca8037d', 1);
INSERT INTO public.seen VALUES (1, '\x99f50ca33044f7fbca9cc6d5446a1987', 1);
INSERT INTO public.seen VALUES (1, '\x9e33e2eb4d104a6bf6ddfd97794525fc', 0);
INSERT INTO public.seen VALUES (1, '\xa02743f675a924c1b4d49b851d989e59', 1);
INSERT INTO public.seen VALUES (1, '\xa5e8f9cfcc5e0484b90947920d63fae3', 1);
INSERT INTO public.seen VALUES (1, '\xbb3406815bffb07d0a8c21094576dc4d', 1);
INSERT INTO public.seen VALUES (1, '\xc1f45f042ae3a1c496aa1e20e4a13c8c', 1);
INSERT INTO public.seen VALUES (1, '\xc2efb11a1fc49a0b3ebf614fd6db2554', 1);
INSERT INTO public.seen VALUES (1, '\xc887585d2e8c4deaa357948f3619902a', 0);
INSERT INTO public.seen VALUES (1, '\xc8ea75922781bd3fe0b0a18ec7523c3a', 1);
INSERT INTO public.seen VALUES (1, '\xca0044ce0051fa746aa99ae82dd75ad9', 1);
INSERT INTO public.seen VALUES (1, '\xd46e9497036cb9642cc4f1668508dd3b', 0);
INSERT INTO public.seen VALUES (1, '\xd65407682b361b0ae9aed8e827507f48', 0);
INSERT INTO public.seen VALUES (1, '\xd6dbabd92a0044b91619342d7c309fe3', 0);
INSERT INTO public.seen VALUES (1, '\xdcc973405c745889af7fe7ed9fb4dd1e', 1);
INSERT INTO public.seen VALUES (1, '\xed39a8785f49d06b04ddb0d4aabf01ad', 1);
INSERT INTO public.seen VALUES (1, '\xf2c354d02ccae9681c2c66b8ce57228b', 0);
INSERT INTO public.seen VALUES (1, '\xf43d269c17ee2f2122f9a45f4c09703c', 1);
INSERT INTO public.seen VALUES (1, '\xf5589c0d9f7aa9506eb51f9213d56106', 0);
INSERT INTO public.seen VALUES (1, '\xf56ea19f45955f314953dcaa9369e629', 0);
INSERT INTO public.seen VALUES (1, '\xf6db3b177e9db67aeda69f8269968d8e', 1);
INSERT INTO public.seen VALUES (1, '\xf87c67f39af916c887e475c8bb80af40', 0);
INSERT INTO public.seen VALUES (1, '\xfe48d7a0607620be4a9321a0286b4577', 1);
INSERT INTO public.seen VALUES (2, '\x146bb7f91812c78f1ffe5c4119719d4b', 0);
INSERT INTO public.seen VALUES (2, '\x169dd6ea654c7d6cb7cc4770afec84d8', 0);
INSERT INTO public.seen VALUES (2, '\x201bfa6172f97fd2ebdad90650fd6437', 0);
INSERT INTO public.seen VALUES (2, '\x22c327c1617a5aed41022211fe9ed6d4', 0);
INSERT INTO public.seen VALUES (2, '\x26d6104a9de01ba02e2b0ce67fdec809', 0);
INSERT INTO public.seen VALUES (2, '\x2ac5076943f1a839adfbbe79e49478ee', 0);
INSERT INTO public.seen VALUES (2, '\x37556b49fdac5b59a832ff7829e5d9c1', 0);
INSERT INTO public.seen VALUES (2, '\x42589eaed3162568433962e575622e8f', 0);
INSERT INTO public.seen VALUES (2, '\x6210a249f766e4cd9e88a62a824ab799', 0);
INSERT INTO public.seen VALUES (2, '\x636fbdd927338db77f5dc1a936852193', 0);
INSERT INTO public.seen VALUES (2, '\x7051f56009c1075310f3845cacb8c1d0', 0);
INSERT INTO public.seen VALUES (2, '\x734ca1e7e3aee03046622a8059c77c79', 0);
INSERT INTO public.seen VALUES (2, '\x74e2df686ec9d45ba0bbc5250e3dce57', 0);
INSERT INTO public.seen VALUES (2, '\x7f466e08d8c2c22b321d435b49833d52', 0);
INSERT INTO public.seen VALUES (2, '\x98da3ea1140b088906c0c792a115403a', 0);
INSERT INTO public.seen VALUES (2, '\x9fad15791b101faa92ca8d2dba13f3d8', 0);
INSERT INTO public.seen VALUES (2, '\xa25fd33d461169239da390be99a9530b', 0);
INSERT INTO public.seen VALUES (2, '\xb456ce1f2c8bbf36dada17521f48b08b', 0);
INSERT INTO public.seen VALUES (2, '\xb6eab5090298a775a70e058a5c3e7730', 0);
INSERT INTO public.seen VALUES (2, '\xc11ecc3bdd3ec9f872cde9204b637d75', 0);
INSERT INTO public.seen VALUES (2, '\xc7a3ea6f5d083ece495b580f99db287c', 0);
INSERT INTO public.seen VALUES (2, '\xca06447450edbf3370ce0c74023c6f4f', 0);
INSERT INTO public.seen VALUES (2, '\xcd4efbf21f707ca6e7ca10c2fe8b7a79', 0);
INSERT INTO public.seen VALUES (2, '\xd2a8d656b672cfe29b1221308b1cf683', 0);
INSERT INTO public.seen VALUES (2, '\xd5516f0dddd7272c693cd2d3373a623b', 0);
INSERT INTO public.seen VALUES (2, '\xd9bc12a1b4ac28fa286216a9a2eaa7ca', 0);
INSERT INTO public.seen VALUES (2, '\xdbfd3556e14f9cbf6d6d00e115f9f554', 0);
INSERT INTO public.seen VALUES (2, '\xeb42fa7bfc0592da7749d112f7832bda', 0);
INSERT INTO public.seen VALUES (2, '\xebf4eab164a620563172f851340d6dd8', 0);
INSERT INTO public.seen VALUES (2, '\xef652327cc691d46347a6e20167f39ee', 0);
INSERT INTO public.surveys VALUES (1, 'sampled', 'f2b38dd5c1537585fe8a9798862fe01a', '{"format":"deniable survey 1","question":[{"ask":"a","choices":["yes","no"],"id":"a","kind":"category","mechanism":{"domain":{"kind":"categories","labels":["yes","no","(no answer)"]},"epsilon":0.5,"mechanism":"direct-1","odds":"54516085/33065677"},"optional":true,"weight":1.0},{"ask":"b","choices":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"id":"b","kind":"category","mechanism":{"arc":6,"domain":{"kind":"categories","size":17},"epsilon":0.5,"mechanism":"wheel-1","odds":"54516085/33065677","prime":17},"weight":1.0},{"ask":"c","high":1.5,"id":"c","kind":"number","low":-1.5,"mechanism":{"domain":{"clip":true,"high":1.5,"kind":"interval","low":-1.5,"steps":3},"epsilon":0.5,"mechanism":"subset-1","odds":"54516085/33065677","size":2},"steps":3,"weight":1.0}],"survey":{"budget":"sampled","closes":1768089600,"epsilon":1.0,"id":"sampled","keep_reports":true,"late":1,"minimum_reports":1,"opens":1767225600,"people":10000,"sample":2,"title":"sampled","window":86400}}');
INSERT INTO public.surveys VALUES (2, 'one', 'e7f3577aeea4c4810ebd9e94ba42f0bc', '{"format":"deniable survey 1","question":[{"ask":"Which town?","choices":["Lyon","Paris","Nice","Lille","Metz","Brest"],"id":"town","kind":"category","mechanism":{"domain":{"kind":"categories","labels":["Lyon","Paris","Nice","Lille","Metz","Brest"]},"epsilon":1.0,"mechanism":"subset-1","odds":"99402293/36568060","size":2},"weight":1.0}],"survey":{"budget":"equal","epsilon":1.0,"id":"one","keep_reports":false,"late":1,"minimum_reports":10,"people":100000,"sample":1,"title":"one"}}');
INSERT INTO public.tallies VALUES (1, 0, 'a', 10, '\x020000000000000004000000000000000400000000000000');
INSERT INTO public.tallies VALUES (1, 0, 'b', 17, '\x06000000000000000600000000000000060000000000000005000000000000000900000000000000080000000000000008000000000000000700000000000000050000000000000005000000000000000300000000000000030000000000000002000000000000000a00000000000000060000000000000009000000000000000400000000000000');
INSERT INTO public.tallies VALUES (1, 0, 'c', 13, '\x0600000000000000070000000000000007000000000000000600000000000000');
INSERT INTO public.tallies VALUES (1, 1, 'a', 12, '\x060000000000000004000000000000000200000000000000');
INSERT INTO public.tallies VALUES (1, 1, 'b', 13, '\x04000000000000000900000000000000050000000000000003000000000000000300000000000000050000000000000006000000000000000600000000000000040000000000000002000000000000000300000000000000050000000000000006000000000000000400000000000000050000000000000004000000000000000400000000000000');
INSERT INTO public.tallies VALUES (1, 1, 'c', 15, '\x060000000000000008000000000000000b000000000000000500000000000000');
INSERT INTO public.tallies VALUES (2, 0, 'town', 30, '\x070000000000000005000000000000001400000000000000090000000000000009000000000000000a00000000000000');
INSERT INTO public.tokens VALUES ('submit', '\x2bdbf66d0b762da55797c6eccf4c58c589d583cb8347f385738efdb40af47b61');
INSERT INTO public.tokens VALUES ('results', '\x11034ca7aa30c9eaccedc6ba351e88b7f544f901173fc38fe13ff21956ae873f');
SELECT pg_catalog.setval('public.kept_number_seq', 40, true);
ALTER TABLE ONLY public.kept
    ADD CONSTRAINT kept_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (survey, period);
ALTER TABLE ONLY public.seen
    ADD CONSTRAINT seen_pkey PRIMARY KEY (survey, id);
ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_id_key UNIQUE (id);
ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (survey, period, question);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (role, hash);

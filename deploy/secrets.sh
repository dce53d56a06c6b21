#!/bin/sh
# Passwords, a token and a certificate for localhost, in secrets/, for compose.yaml. Nothing that exists is replaced.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets
for name in database token grafana; do
    [ -s "secrets/$name" ] || openssl rand -hex 32 | tr -d '\n' > "secrets/$name"
done
[ -s secrets/store ] || printf 'postgresql://deniable:%s@database/deniable' "$(cat secrets/database)" > secrets/store
[ -s secrets/key.pem ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout secrets/key.pem -out secrets/cert.pem 2>/dev/null
# Containers read them as users of their own.
chmod 644 secrets/*
chmod 711 secrets

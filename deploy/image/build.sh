#!/bin/sh
# A container image from Debian's packages and the wheels in dist/, without any registry: deploy/image/build.sh [dist] [file]
# Needs mmdebstrap and buildah. The root is Debian's Python with what the collector needs, and nothing that installs or compiles.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:-$here/../../dist}" && pwd)
made=${2:-$dist/deniable-image.tar}
release=${RELEASE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The packages go into a folder of their own, made by a Python of the same version.
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check --target "$work/deniable" --no-compile --find-links "$dist" \
    -c "$here/../../constraints.txt" 'deniable[collector,otel]'

mmdebstrap --quiet --variant=extract --include=python3-minimal,libpython3-stdlib,ca-certificates,openssl,tzdata,media-types,libc6,libgcc-s1,libstdc++6,zlib1g \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/lib/python3*/test/*' --dpkgopt='path-exclude=/usr/share/i18n/*' "$release" "$work/root"
"$here/root.sh" "$work/root" "$work/deniable"

export BUILDAH_FORMAT=docker # the OCI format has no health checks; every tool reads both
buildah() { command buildah --storage-driver=vfs --root "$work/storage" --runroot "$work/run" "$@"; }
name=$(buildah from scratch)
buildah add --quiet "$name" "$work/root" / >/dev/null
buildah config --user 10001:10001 --workingdir /var/lib/deniable --env PYTHONPATH=/opt/deniable --env PATH=/usr/bin:/bin \
    --env PYTHONDONTWRITEBYTECODE=1 --env HOME=/tmp --entrypoint '["/usr/bin/python3", "-m", "deniable"]' --cmd '--help' \
    --port 8080 --stop-signal SIGTERM --label org.opencontainers.image.licenses=MIT --label org.opencontainers.image.title=deniable \
    --healthcheck 'CMD /usr/bin/python3 /usr/lib/deniable/health.py' --healthcheck-interval 10s --healthcheck-start-period 30s "$name"
rm -f "$made"
buildah commit --quiet --format docker "$name" "docker-archive:$made:localhost/deniable:latest" >/dev/null
ls -l "$made"

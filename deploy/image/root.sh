#!/bin/sh
# What the root of the image gets beside Debian's packages: ours, a health check and a user; and what it loses. root.sh ROOT PACKAGES
set -eu
root=$1
packages=$2
mkdir -p "$root/opt" "$root/usr/lib/deniable" "$root/var/lib/deniable"
cp -r "$packages" "$root/opt/deniable"
cp "$(dirname "$0")/health.py" "$root/usr/lib/deniable/"
find "$root" -name '__pycache__' -type d -prune -exec rm -rf {} +
rm -rf "$root/usr/lib/"*/gconv # conversions of the C library, which Python does not use
if command -v strip >/dev/null; then # it is 14 MB with symbols
    find "$root/opt/deniable/uvloop" -name '*.so' -exec strip --strip-unneeded {} +
fi
find "$root/opt/deniable" -type d \( -name tests -o -name test \) -prune -exec rm -rf {} +
rm -rf "$root/var/lib/apt" "$root/var/cache" "$root/var/lib/dpkg/info" "$root/usr/share/doc" "$root/usr/share/man" "$root/usr/share/locale"
[ -e "$root/usr/bin/python3" ] || ln -s "$(cd "$root/usr/bin" && ls python3.* | head -1)" "$root/usr/bin/python3"
printf 'root:x:0:0:root:/:/usr/sbin/nologin\ndeniable:x:10001:10001:deniable:/var/lib/deniable:/usr/sbin/nologin\n' > "$root/etc/passwd"
printf 'root:x:0:\ndeniable:x:10001:\n' > "$root/etc/group"
mkdir -p "$root/etc/ssl/certs" "$root/tmp"
find "$root/usr/share/ca-certificates" -name '*.crt' -exec cat {} + > "$root/etc/ssl/certs/ca-certificates.crt"
chmod 1777 "$root/tmp"
chown -R 10001:10001 "$root/var/lib/deniable"

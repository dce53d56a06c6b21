"""Whether the image works: `python -m deploy.image.test`, as root, serves a survey from it and answers it.

The root of the image is mounted read-only, with nothing writable but /tmp, and the collector runs as the image's user.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

from deniable.cli.init import survey_text
from tests import ROOT
from tests.servers import free_port, wait_until_ready

LARGEST = 180_000_000  # bytes
RUN = """
set -e
mount --bind "$ROOT" "$ROOT"
mount -t tmpfs tmpfs "$ROOT/tmp"
cp "$SURVEY" "$ROOT/tmp/survey.toml"
chown -R 10001:10001 "$ROOT/tmp"
mount -o remount,bind,ro "$ROOT" "$ROOT"
exec env -i DENIABLE_PORT=$PORT PATH=/usr/bin:/bin $VARIABLES /usr/sbin/chroot --userspec=$OWNER "$ROOT" "$@"
"""


def main(archive: Path) -> None:
    """Check size and settings, then run it."""
    size = archive.stat().st_size
    assert size <= LARGEST, f"{size:,} bytes are more than {LARGEST:,}"
    with tempfile.TemporaryDirectory(prefix="deniable-image-") as name:
        folder, root = Path(name), Path(name) / "root"
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (manifest,) = json.loads((folder / "manifest.json").read_text())
        config = json.loads((folder / manifest["Config"]).read_text())["config"]
        assert config["User"] == "10001:10001" and config["Healthcheck"]["Test"][-1].endswith("health.py")
        for layer in manifest["Layers"]:
            subprocess.run(["tar", "-xf", str(folder / layer), "-C", str(_made(root))], check=True)
        (folder / "survey.toml").write_text(survey_text("Well?", ("yes", "no"), 100, 2.0))
        served(root, folder / "survey.toml", config)
    sys.stdout.write(f"{archive.name}: {size / 1e6:.1f} MB, serves a survey as user {config['User']} on a read-only root\n")


def served(root: Path, survey: Path, config: dict[str, list[str]]) -> None:
    """Serve, answer 50 times, read the results, and ask the health check before and after the end."""
    port = free_port()
    given = {"ROOT": str(root), "SURVEY": str(survey), "PORT": str(port), "OWNER": str(config["User"])}
    given["VARIABLES"] = " ".join(each for each in config["Env"] if not each.startswith("PATH="))
    inside = ["unshare", "--mount", "sh", "-c", RUN, "sh"]
    command = [*inside, *config["Entrypoint"], "serve", "/tmp/survey.toml", "--open-results"]
    health = [*inside, *config["Healthcheck"]["Test"][1:]]  # type: ignore[call-overload]
    environment = {**os.environ, **given}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            start = time.perf_counter()
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            sys.stdout.write(f"ready after {time.perf_counter() - start:.1f} s\n")
            simulate = [sys.executable, "-m", "deniable", "simulate", str(survey), "--people", "50", "--yes"]
            subprocess.run(
                [*simulate, "--url", f"http://127.0.0.1:{port}"], check=True, stdout=subprocess.DEVNULL, timeout=120
            )
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/results", timeout=20) as answer:
                assert json.loads(answer.read())["people"] == 50
            subprocess.run(health, env=environment, check=True, timeout=60)
        finally:
            process.terminate()
            process.wait(timeout=40)
    assert process.returncode == 0, process.returncode
    assert subprocess.run(health, env=environment, stderr=subprocess.DEVNULL, timeout=60).returncode == 1


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "deniable-image.tar")

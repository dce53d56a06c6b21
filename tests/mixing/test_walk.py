"""What docs/mixing.md shows, typed by somebody who has never mixed anything."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.servers import free_port

pytestmark = [pytest.mark.needs("starlette", "uvicorn"), pytest.mark.long]


def test_the_page_leads_from_keys_to_a_certified_result(tmp_path: Path) -> None:
    """Real processes, of which the relay is killed; only the ports differ."""
    (block,) = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs" / "mixing.md").read_text(), re.DOTALL | re.MULTILINE)
    collector, relay, check = (str(free_port()) for _ in range(3))
    block = block.replace("serve survey.toml &", f"serve survey.toml --port {collector} &")
    block = block.replace("http://127.0.0.1:8080 &", f"http://127.0.0.1:{collector} --port {relay} &")
    block = block.replace("127.0.0.1:8081", f"127.0.0.1:{relay}").replace("--port 8082", f"--port {check}")
    assert "808" not in block.replace(collector, "").replace(relay, "").replace(check, "")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with subprocess.Popen(
        ["bash", "-eu", "-c", block],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            output, _ = shell.communicate(timeout=300)
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, output
    assert "600 of 600 people were stored" in output and "400 of 400 people were stored" in output
    assert "waiting=600" in output  # after it was killed
    assert output.count("messages=1000 counted=1000 duplicates=0 refused=0") == 1
    assert "Against the collector: epsilon 0.1" in output and "together: epsilon 1, whatever they do" in output
    assert "event=stopped waiting=0" in output and "Traceback" not in output

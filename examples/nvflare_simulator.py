"""Three clients learn together in NVFLARE's simulator; each sends one randomized report per round, and nothing else."""

import sys
import tempfile

import numpy as np

# On both sides: the plan, in plain values. Four rounds of a model with three weights cost epsilon 32 in all.
PLAN = {"shapes": {"numpy_key": [3]}, "epsilon": 32.0, "rounds": 4, "clip": 2.0, "method": "piecewise"}
CLIENTS, TRUTH = ("site-1", "site-2", "site-3"), np.array([2.0, -1.0, 0.5])


def client() -> None:
    """Train as without privacy and return the difference of weights. The loss does not leave the client."""
    import nvflare.client as flare

    flare.init()
    random = np.random.default_rng(CLIENTS.index(flare.get_site_name()))
    while flare.is_running():
        weights, x = flare.receive().params["numpy_key"], random.normal(size=(50, 3))
        missed = x @ weights - x @ TRUTH - random.normal(0, 0.1, 50)
        step = {"numpy_key": -0.5 * x.T @ missed / 50}
        flare.send(flare.FLModel(params_type="DIFF", params=step, metrics={"loss": float((missed**2).mean())}))


def simulate(folder: str) -> None:
    """The job as usual, with one filter of task results more on each side."""
    from nvflare.app_common.np.np_model_persistor import NPModelPersistor
    from nvflare.app_common.workflows.fedavg import FedAvg
    from nvflare.client.config import TransferType
    from nvflare.job_config.api import FedJob
    from nvflare.job_config.script_runner import FrameworkType, ScriptRunner

    import deniable as dn
    from deniable_learn.nvflare_filters import DecodedReports, PrivateResults

    job, results = FedJob("private"), {"filter_type": "TASK_RESULT", "tasks": ["train"]}
    job.to_server(NPModelPersistor(model=[0.0, 0.0, 0.0]), id="persistor")
    job.to_server(FedAvg(num_clients=len(CLIENTS), num_rounds=4, persistor_id="persistor"))
    job.to_server(DecodedReports(**PLAN), **results)
    for site in CLIENTS:
        runner = ScriptRunner(__file__, "client", framework=FrameworkType.NUMPY, params_transfer_type=TransferType.DIFF)
        job.to(runner, site)
        job.to(PrivateResults(f"{folder}/{{site}}.json", **PLAN), site, **results)
    job.simulator_run(f"{folder}/job", log_config="ERROR")
    for site in CLIENTS:
        ledger = dn.Ledger(f"{folder}/{site}.json")
        print(f"{site} spent epsilon {ledger.spent():.6g} of {ledger.lifetime:g} in {len(ledger.entries())} reports")
    print("the server's weights:", np.load(f"{folder}/job/server/simulate_job/models/server.npy").round(2).tolist())


if sys.argv[1:] == ["client"]:
    client()
else:
    with tempfile.TemporaryDirectory() as place:
        simulate(place)

"""Real data for the figures: a folder of small clean files, each checked by its sum before it is read.

Figures run without the folder too. Then generated data of the same shape stand in, and the notes of the result say so.
"""

import csv
import gzip
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter

FILES = {  # the SHA-256 of every file, by its place in the folder
    "genomics/kg_phase1_chr22_50.30-51.00Mb.csv.gz": "bdfa23d186c81d228b08f4db037f451ad96efb3fcd2c4749dedce5f6f52f71b6",
    "genomics/kg_phase3_chr22_16.05-16.50Mb.csv.gz": "43013416671f6a581bb6f00b3df8d492126a4f5dc7cdbdde60de5b0e4c55259d",
    "genomics/rare_spectrum_890060.csv.gz": "cb959ec9740c1faad96a49c4f66dc211dcd6c4b5b478587f96a7df3e32b5fba8",
    "graphs/facebook_combined.csv.gz": "5f2eb00473e06bbddd18274ae358d8c06ed21ab7ee4a12de6aa2bc430d3bd3b6",
    "graphs/soc_slashdot0902.csv.gz": "8c2cae0a922f7a229691d945acdc916bbf9c83473cc1f8ce4745609f423ab80f",
    "graphs/wiki_vote.csv.gz": "7306f01fad0429102dcd739ef43c8f00349c9d4bbd1486a99ec5afa56ac55a21",
    "images/mnist.npz": "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
    "locations/foursquare_global_nyc_checkins.csv.gz": "3772822c45321d807467891db83782c07c87e73cfee1a8276b2d5eaf8d6cb69e",
    "locations/foursquare_nyc_checkins.csv.gz": "9acd53bf42b149126b1c3d80bf0094653cf6f5a91eb202ce9b0888acf2df12a8",
    "locations/foursquare_nyc_pois.csv.gz": "b3ead6005fc359cd4d7dc08a830f25921c0cf5d518fe99315483d494bcd484a6",
    "locations/gowalla_authors_1000.csv": "88af4552fb3b156948e164c79fb5ee8079df6f8fbd0d264f41d8bacf7a34f43c",
    "locations/gowalla_nyc_checkins.csv.gz": "61d5efc9abc6a5cfe9abde2794bf77adaefd44016afa49c209e8febe587a7955",
    "locations/gowalla_nyc_venues.csv.gz": "b68fb26bc0831763fbde59a8eb6b689cabfad1474bc31e16ed48938a93a82ddb",
    "locations/gowalla_pois.csv.gz": "d302e84206a2d243ff1da9320a70c152fbeb4f71218a29fc1dc43640a1c38e94",
    "ratings/ml_latest_small_2016.csv.gz": "c7f660224724fea666444862f1820a7768ac4f9badc7922fa7422c4393e3c950",
    "ratings/ml_latest_small_2018.csv.gz": "64cbe1cadf34c364c2c6b010b752e437e8d9d9e48894695a984edb65d3b9dc94",
    "surveys/acs2023_uldp_histogram.csv.gz": "4775b7848ffee7fddc7781a71ac0db933171927f679d4f2724d9a6d7e9ee8bf4",
    "surveys/census_income_kdd.csv.gz": "b229f5e783ea5dd5396e3249afba4abd4253bd227b16c9e6575f162bc04d7d5e",
    "surveys/drug_review_rating_histogram.csv.gz": "bf715988049c7aa034eba879a61cb716db771a56cd60783403134d6924782110",
    "surveys/gss_2000_2014.csv.gz": "41929b80ec7f2f4b0179b7ce868a54b26983e1d10f905515330c37fe939f8c2d",
    "surveys/nigeria_randomized_response.csv.gz": "fb30c9323043330bb54864c1572ea7797d36ab00380df123855db024ed705bc2",
    "surveys/us_census_1990_MODEL_1200.csv.gz": "adc20c3693ab3b67955328e3c5fbec8692843d5488980d9ea40df3a429a0ff73",
    "surveys/us_census_1990_sample.csv.gz": "7339d375cab0f6c7e9a618d78498570cda32d7fe29e548843e3f5a08925d0226",
    "tabular/abalone.csv.gz": "58cdf3277b7db342e6225ba4c585208a40929332d7a99da22f4c0391c6db34a2",
    "tabular/adult.csv.gz": "fbfd5774d1c107366c5fcb3f0317586726c37cc93abf13dff629000f0bc2d666",
    "tabular/bank_additional_full.csv.gz": "fc2e40c64a0f59b41addf4c19ded85c20196f8ef0fb275743b96d1f14d775b73",
    "tabular/bias_correction.csv.gz": "8b6d918b283d18e9a20eb2ae8dddeccc200bacf82dece0c3cf256cef4a6b1098",
    "tabular/superconduct_76f.csv.gz": "90fbcde8b2020bc5bdba472554d6ac38c5cc8aa017c0af7d4a31c723e3683dd0",
    "telemetry/msweb_areas.csv.gz": "44e48b89880f972da2201430ce8f7929d1c8a58ed8a2c8aac5d02584be72ac74",
    "telemetry/msweb_visits.csv.gz": "cd03e3d5690f685cc127d762e0cac689458c40f6d4e5fd9c965cfd390b8331ec",
    "text/agnews_minilm_l6_f16.npz": "3bc514202e5d78a33b36b48378f5a090c540a1c6e1e8c8106225dda973c0bd4b",
    "text/agnews_test_7600.csv.gz": "6258637b51685ee39e05e357c293df7b91ca886fe62bdd9bd9eb4ac3f642ddae",
    "text/agnews_train_12k.csv.gz": "47046c2c01d2c5bf173845e92adb76b238860586e7292224a82ee1a9ca79f286",
}


@dataclass(frozen=True)
class Data:
    """The folder with the files, or none."""

    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.folder is not None and not self.folder.is_dir():
            raise InvalidParameter(f"There is no folder {self.folder}. Say --data with the folder that holds the data.")

    def has(self, *names: str) -> bool:
        """Whether all these files are there."""
        return self.folder is not None and all((self.folder / name).is_file() for name in names)

    def read(self, name: str) -> bytes:
        """A file as it lies there, refused if it is not the one that was used before."""
        if self.folder is None or name not in FILES:
            raise InvalidParameter(f"There is no file {name} without a folder of data. Say --data with the folder.")
        path = self.folder / name
        packed = path.read_bytes()
        if hashlib.sha256(packed).hexdigest() != FILES[name]:
            raise InvalidParameter(f"The file {path} is not the one that the figures were made from. Copy it again.")
        return packed

    def header(self, name: str) -> list[str]:
        """The names of the columns of a CSV file."""
        return next(csv.reader(io.StringIO(self.text(name))))

    def text(self, name: str) -> str:
        """The text of a file, unpacked if its name ends in .gz."""
        kept = self.read(name)
        return (gzip.decompress(kept) if name.endswith(".gz") else kept).decode("utf-8")

    def table(self, name: str, columns: Sequence[str]) -> list[list[str]]:
        """Columns of a CSV file."""
        rows = csv.reader(io.StringIO(self.text(name)))
        head = next(rows)
        places = [head.index(column) for column in columns]
        return [list(column) for column in zip(*([row[place] for place in places] for row in rows), strict=True)]

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays of an .npz file."""
        with np.load(io.BytesIO(self.read(name))) as kept:
            return {key: kept[key] for key in kept.files}


def random_for(seed: int, *what: object) -> np.random.Generator:
    """Generated data, and nothing that protects anybody."""
    return np.random.default_rng([seed, *" ".join(map(str, what)).encode()])

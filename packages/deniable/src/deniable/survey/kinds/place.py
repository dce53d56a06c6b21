"""One of several places: the share of each."""

import numpy as np

from deniable.domains import Points
from deniable.errors import InvalidParameter
from deniable.survey.kinds.choice import Choice
from deniable.survey.kinds.kind import Details, WrongDetail


class Place(Choice[Points]):
    """Named places with their latitudes and longitudes."""

    keys = frozenset({"places", "points"})

    def domain(self, details: Details) -> Points:
        names, points = details.get("places"), details.get("points")
        if not isinstance(names, list) or not isinstance(points, list) or len(names) != len(points):
            raise WrongDetail(
                "points",
                'A question of kind "place" needs places, a list of names, and points, one [latitude, longitude] for each.',
            )
        try:
            return Points(np.array(points, np.float64), "haversine", labels=names)
        except (InvalidParameter, TypeError, ValueError) as error:
            raise WrongDetail("points", str(error)) from None

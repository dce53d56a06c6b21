"""Release people's places: three mechanisms on an invented city, and the error of each.

`deniable release --city 300 --epsilon 4 --picture map.png` draws the same on a map, and with --places and a table of
check-ins it does so for real ones.
"""

import numpy as np

import deniable as dn

# The list of places is public. One promise covers all of it: a release never stays within the district of the truth.
random = np.random.default_rng(4)
centres = random.normal([48.86, 2.35], [0.04, 0.06], (5, 2))
city = dn.Points((centres[np.arange(200) % 5] + random.normal(0, 0.01, (200, 2))).round(5), metric="haversine")
people = np.minimum(random.geometric(0.02, 3000) - 1, 199)  # the number of each person's place

releases = [
    dn.DirectResponse(city, epsilon=4.0),
    dn.Bipartite(city, epsilon=4.0),
    dn.Bipartite(city, epsilon=4.0, rule="mean"),
    dn.Staircase(city, epsilon=4.0),
    dn.Coarsened(city, epsilon=4.0),
]
print("kilometres between a person and what is released, on average over 3,000 people:")
for mechanism in releases:
    reports = mechanism.perturb(people, dn.SeededCoins(1))  # seeded, so that this example prints the same every time
    value = reports.columns["value"].astype(int)
    where = value if isinstance(mechanism, dn.DirectResponse) else mechanism.outputs[value]
    certificate = dn.certify(mechanism)
    print(f"{mechanism.wire:12} {city.paid(people, where).mean():5.2f} km   exact epsilon {certificate.loss.epsilon():.6f}")
    assert certificate.holds

# With several near answers, shares cannot be identified any more, and the library refuses to estimate them.
bipartite = releases[1]
try:
    bipartite.estimate(bipartite.tally(bipartite.perturb(people)))
except dn.InvalidParameter as refused:
    print(str(refused).split(":")[0])

# The published staircase takes rings of different sizes: its certificate shows what it really costs.
tiles = dn.Points(city.points, metric="quadkey")
published = dn.ReleaseChannel.staircase_as_published(tiles, 1.0, edges=[0, 10, 12])
print(f"L-SRR as published: epsilon 1 is really {published.loss().epsilon():.3f}")
assert not dn.certify(published).holds

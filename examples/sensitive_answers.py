"""Some answers are sensitive, the others may be disclosed: more precise shares for the same promise.

python examples/sensitive_answers.py
"""

import deniable as dn

ILLNESS = dn.Categories(["a cold", "AIDS", "flu", "cancer", "none", "another"])
PEOPLE = {"a cold": 3000, "AIDS": 100, "flu": 2000, "cancer": 200, "none": 4000, "another": 700}


def main() -> None:
    """Ask the same people twice: with all answers protected, and with two of them."""
    answers = [answer for answer, people in PEOPLE.items() for _ in range(people)]
    everything = dn.plan(ILLNESS, epsilon=1.0, n=len(answers))
    sensitive = dn.plan(ILLNESS, epsilon=1.0, n=len(answers), sensitive=["AIDS", "cancer"], open_share=0.97)
    print(dn.certify(sensitive))
    print("\nanswer     true   all protected    two protected")
    estimates = [mechanism.estimate(mechanism.tally(mechanism.perturb(answers))) for mechanism in (everything, sensitive)]
    for place, (answer, people) in enumerate(PEOPLE.items()):
        cells = [f"{each.values[place]:7.1%} +-{1.96 * each.standard_error[place]:5.1%}" for each in estimates]
        print(f"{answer:8} {people / len(answers):6.1%} {cells[0]:>15} {cells[1]:>16}")


if __name__ == "__main__":
    main()

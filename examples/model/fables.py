"""Writes fables by the grammar, with the exact probability of each.

    python fables.py [COUNT [SEED]]     prints fables and how surprising they are
"""

import math
import random
import re
import sys

from grammar import FOODS, HE, PLACES, PLOTS, RULES, SHE

HOLE = re.compile(r"<([a-z ]+)>|\{([A-Za-z.]+)\}|\[([^\[\]]*)\]")
WORDS = {True: dict(he="he", him="him", his="his", He="He", His="His", himself="himself"),
         False: dict(he="she", him="her", his="her", He="She", His="Her", himself="herself")}


class Fable:
    """One fable: `text`, and `nats`, minus the logarithm of the probability of the choices that made it.

    Different choices can make the same text, if rarely; so the mean of `nats` is slightly above the entropy of
    the text.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nats = 0.0
        plot = self.choose(PLOTS)
        self.plot = plot
        self.values = self.cast(plot)
        sentences = [self.fill("<open>"), self.fill("<habit>")] + [self.fill(self.choose(beat)) for beat in plot["beats"]]
        half = len(sentences) // 2
        paragraphs = [" ".join(sentences[:half]), " ".join(sentences[half:]), self.fill("<moral>")]
        self.text = articles("\n\n".join(paragraphs)) + "\n"

    def choose(self, alternatives):
        chosen = self.random.choice(alternatives)
        self.nats -= math.log(alternatives.count(chosen) / len(alternatives))
        return chosen

    def cast(self, plot):
        """Chooses the characters and the subject of the story: the values of the {holes}."""
        first_is_he = self.choose([True, False])
        values = {}
        kind = None
        for letter, is_he, kinds, traits in (("A", first_is_he, plot["first"], plot["traits"]),
                                             ("B", not first_is_he, plot["second"], plot["traits_of_second"])):
            kind = self.choose([k for k in kinds if k != kind])
            values[f"{letter}.kind"] = kind
            values[f"{letter}.name"] = self.choose(HE if is_he else SHE)
            values[f"{letter}.trait"] = self.choose(traits)
            values.update({f"{letter}.{word}": form for word, form in WORDS[is_he].items()})
        where, place = self.choose(PLACES)
        values["place"] = place
        values["where"] = f"{where} {self.choose(RULES['adjective of place'])} {place}"
        if "food" in plot:
            values["food"], values["it"] = self.choose(FOODS)
            values["was"] = "was" if values["it"] == "it" else "were"
        for name, alternatives in plot["keep"].items():
            values[name] = self.choose(alternatives)
        return values

    def fill(self, template):
        """Returns the template with its holes filled, innermost first."""
        while hole := HOLE.search(template):
            rule, value, alternatives = hole.groups()
            if rule == "lesson":
                new = self.choose(self.plot["lessons"])
            elif rule is not None and rule.startswith("small "):
                new = self.fill(f"<{rule[6:]}>")
                new = new[0].lower() + new[1:]
            elif rule is not None:
                new = self.choose(RULES[rule])
            elif value is not None:
                new = self.values[value]
            else:
                new = self.choose(alternatives.split("|"))
            template = template[:hole.start()] + new + template[hole.end():]
        return template


def articles(text):
    """Makes "a owl" and "a honest mouse" "an owl" and "an honest mouse"."""
    return re.sub(r"\b([Aa]) (?=[aeiou]|hour|honest)", r"\1n ", text)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seed = sys.argv[2] if len(sys.argv) > 2 else "example"
    for index in range(count):
        fable = Fable(f"{seed} {index}")
        print(fable.text)
        print(f"({fable.nats:.1f} nats: one of about 10^{fable.nats / math.log(10):.0f} fables)\n")


if __name__ == "__main__":
    main()

"""Conversations about the fables of the model, and the questions in them.

A question has a key that names its subject and its form. A tenth of the keys is held out: no conversation of the
training asks these questions. See world.py for the fables.
"""

import json
import random
import zlib
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional

from world import ANIMALS, BY_TITLE, FABLES, Fable

Message = Dict[str, Any]

def _tool(name: str, description: str, /, **properties: str) -> Dict[str, Any]:
    """A tool whose arguments, all of them required, have these types."""
    parameters: Dict[str, Any] = {"type": "object"}
    if properties:
        parameters["required"] = list(properties)
    parameters["properties"] = {key: {"type": kind} for key, kind in properties.items()}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


FIND = _tool("find_fable", "Looks a fable up by its title.", title="string")
ADD = _tool("add", "Adds two numbers.", a="integer", b="integer")
TIME = _tool("get_time", "Tells the time.")
WEATHER = _tool("get_weather", "Tells the weather of a place.", city="string")
TOOLS = [FIND, ADD, TIME, WEATHER]
# Other words for what they do, and tools that no question needs.
DESCRIPTIONS = {
    "find_fable": ["Finds a fable.", "Find a fable by title.", "Returns the text of a fable.", "Search the library."],
    "add": ["Add two integers.", "The sum of two numbers.", "Computes a + b.", "Returns the sum of a and b."],
    "get_time": ["What time it is.", "Get the current time.", "Returns the time of day.", "The clock."],
    "get_weather": ["The weather in a city.", "Get the current weather.", "Weather now.", "Returns the weather."]}
OTHER_TOOLS = [
    _tool("send_mail", "Sends a mail.", to="string", text="string"), _tool("roll_dice", "Rolls dice.", sides="integer"),
    _tool("play_song", "Plays a song.", name="string"), _tool("set_alarm", "Sets an alarm.", time="string"),
    _tool("multiply", "Multiplies two numbers.", a="number", b="number"), _tool("get_date", "Tells the date."),
    _tool("translate", "Translates a text.", text="string", language="string"), _tool("stop", "Stops everything.")]

SYSTEMS = ["You tell fables.", "You are a teller of fables.", "You are a helpful teller of fables.",
           "You are a helpful assistant.", "Be brief.", "You are kind and brief.", "Answer the questions of the user."]

UNKNOWN_TITLES = [
    "The {a} and the {b}", "The {a} and the {t}", "The {t} of the {a}", "The Proud {a}", "The Two {a}s"]
UNKNOWN_ANIMALS = ["Camel", "Whale", "Monkey", "Snake", "Swan", "Tiger", "Pig", "Cow", "Duck", "Rat", "Parrot",
                   "Beetle", "Hedgehog", "Deer", "Otter", "Elephant", "Crab", "Seal", "Zebra", "Panther"]
THINGS = ["Moon", "Candle", "Bridge", "Mountain", "Gate", "Ring", "Crown", "Stone", "Pot", "Tree", "Wheel", "Ship"]

# Titles of other fables, and titles made of our words: known animals do not make a known fable.
UNKNOWN_FABLES = [
    "The Fox and the Grapes", "The Fox and the Crow", "The Fox and the Stork", "The Tortoise and the Hare",
    "The Lion and the Mouse", "The Ant and the Grasshopper", "The Crow and the Pitcher", "The Wolf and the Lamb",
    "The Dog and the Bone", "The Town Mouse and the Country Mouse", "The Frog and the Ox", "The Boy Who Cried Wolf",
    "The Goose and the Golden Eggs", "The Bear and the Two Travellers", "The Wolf in Sheep's Clothing",
    "The Donkey and the Salt", "The Cat and the Mice", "The Eagle and the Arrow", "The Horse and the Stag",
    "The Rooster and the Jewel"]
NO_SUCH = "I know no fable with {a}."

OUTSIDE = [
    "What is the capital of {place}?", "Who is the king of {place}?", "How far is it to {place}?",
    "How do I cook {food}?", "Where can I buy {food}?", "How do I fix my {thing}?",
    "Who invented the {thing}?", "Can you write a program for my {thing}?", "What does a {thing} cost?",
    "Who won the game in {place}?", "Do you like {food}?", "How many people live in {place}?",
    "Explain how a {thing} works.", "What is the price of {food} in {place}?", "Which language do they speak in {place}?"]
PLACES = ["France", "Peru", "Norway", "Egypt", "Japan", "London", "Rome", "Chile", "Kenya", "Berlin", "India", "Texas",
          "Spain", "Poland", "Paris", "Cuba", "Iceland", "Ghana", "Boston", "Vienna"]
FOODS = ["soup", "rice", "bread", "an egg", "pasta", "beans", "a cake", "fish", "potatoes", "pancakes"]
MACHINES = ["bicycle", "computer", "car", "telephone", "radio", "clock", "printer", "camera", "train", "lamp"]

SORRY = ["I do not know that. I only know a few fables; ask me for one of them.",
         "I am sorry, I do not know. I can tell you a fable instead.",
         "That I do not know. My world is made of fables."]
SORRY_FABLE = ["I do not know the fable \"{title}\". Shall I tell you one that I know?",
               "I am sorry, I do not know \"{title}\". I know {other}, for example."]
NO_ADDING = "I cannot add numbers by myself. I know fables."
NO_TIME = "I do not know what time it is. I know fables."
WHO = "I am Fabulist, a very small model that knows {count} fables. I can tell them and explain them."
CAN = "I can tell you a fable, make it shorter, say its moral and explain it. Ask me which fables I know."
HELLO = "Hello! Shall I tell you a fable?"
THANKS = "You are welcome. Would you like another fable?"
BYE = "Good-bye! Come back for another fable."

GREETINGS = ["Hello", "Hi", "Hello!", "Hi!", "Hi there", "Hello there!", "Good morning", "Good evening!", "Hey", "Good day."]
THANKING = ["Thanks", "Thank you", "Thank you!", "Thanks a lot!", "Thanks, that was nice.", "Many thanks.", "Great, thanks!"]
LEAVING = ["Bye", "Good-bye", "Goodbye!", "See you.", "Bye bye!", "I have to go.", "Good night!"]
ASKING_WHO = ["Who are you?", "What are you?", "What is your name?", "Who am I talking to?", "Tell me about yourself.",
              "Are you a model?", "Introduce yourself."]
ASKING_CAN = ["What can you do?", "What can I ask you?", "How can you help me?", "What do you know?", "Help",
              "What are you good at?", "What should I ask?"]
ASKING_LIST = ["Which fables do you know?", "List some fables.", "What fables are there?", "Name a few fables.",
               "Give me some titles.", "Which stories can you tell?"]
ASKING_ANY = ["Tell me a fable.", "Tell me a story.", "A fable, please.", "I would like to hear a fable.",
              "Can you tell me a fable?", "Please tell me something.", "Any fable will do."]
ASKING_TELL = ["Tell me the fable {t}.", "Tell me {t}.", "Please tell me {t}.", "Can you tell me {t}?",
               "I want to hear {t}.", "Do you know {t}?", "{t}", "How does {t} go?", "Tell the fable of {u}.",
               "tell me about {u}", "What happens in {t}?", "Retell {t}.", "The fable of {u}, please.",
               "Tell me the story of {u}.", "tell me the fable of {u}"]
ASKING_SHORT = ["Tell me {t} in short.", "Summarize {t}.", "What is {t} about?", "{t} in one or two sentences, please.",
                "Give me a summary of {t}.", "Briefly, what happens in {t}?"]
ASKING_MORAL = ["What is the moral of {t}?", "What does {t} teach?", "What is the lesson of {t}?",
                "What can we learn from {t}?", "The moral of {t}?", "Tell me the moral of {t}.",
                "what is the moral of {u}", "And what is the moral of {u}?"]
ASKING_MEANING = ["Explain {t}.", "What does {t} mean?", "Why is that the moral of {t}?", "Can you explain {t} to me?",
                  "How should I understand {t}?"]
ASKING_ANIMALS = ["Which animals are in {t}?", "Who is in {t}?", "Who are the animals of {t}?",
                  "What animals does {t} have?"]
ASKING_WITH = ["Which fable has a {a}?", "Do you know a fable with a {a}?", "Tell me a fable about a {a}.",
               "Is there a fable with a {a} in it?", "A story with a {a}, please.", "Which fables have a {a}?",
               "Which fable has a {a} in it?"]
AGAIN_SHORT = ["Shorter, please.", "And in short?", "Can you make it shorter?", "In one sentence?", "Too long."]
AGAIN_MORAL = ["And the moral?", "What is its moral?", "What does it teach?", "So what is the lesson?"]
AGAIN_MEANING = ["Explain it.", "Why?", "What does that mean?", "I do not understand.", "Can you explain that?"]
AGAIN_ANIMALS = ["Who is in it?", "Which animals are in it?"]
ASKING_FIND = ["Look up {t}.", "look up {u}", "find {u}", "Please look {t} up.", "Find {t}.",
               "Can you find the fable {t}?", "Search for {t}."]
ASKING_ADD = ["What is {x} + {y}?", "Add {x} and {y}.", "What is {x} plus {y}?", "How much is {x} and {y}?",
              "Please add {x} to {y}.", "{x}+{y}", "What do {x} and {y} make?", "The sum of {x} and {y}?"]
ASKING_TIME = ["What time is it?", "Tell me the time.", "How late is it?", "Do you have the time?", "What is the time now?",
               "The time, please."]
ASKING_WEATHER = ["What is the weather in {p}?", "How is the weather in {p}?", "Will it rain in {p}?", "Weather in {p}?",
                  "Tell me the weather in {p}.", "Is it cold in {p}?", "Do I need a coat in {p}?"]
SKIES = ["sunny", "cloudy", "rainy", "windy", "snow", "clear", "fog", "stormy"]
ASKING_JSON = ["Give me {t} as JSON with the keys {k}.", "Answer in JSON with the keys {k}: {t}",
               "Describe {t} in JSON. Keys: {k}.", "{t} as a JSON object with {k}, please."]
JSON_SYSTEMS = ["Answer in JSON with the keys {k}.", "You answer in JSON. Keys: {k}.", "Reply as JSON with the keys {k}."]


def held_out(key: str) -> bool:
    """Whether a question is kept from the training."""
    return zlib.crc32(key.encode()) % 10 == 0


def listed(words: List[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def with_article(animal: str) -> str:
    return ("an " if animal[0] in "aeiou" else "a ") + animal


@dataclass
class Asked:
    """A question, and the right answer."""

    kind: str
    key: str
    text: str
    answer: str = ""
    fable: Optional[Fable] = None
    call: Optional[Dict[str, Any]] = None
    result: str = ""
    after: str = ""
    keys: List[str] = field(default_factory=list)


class Asker:
    """Asks at random: with `held` the held-out questions, else the others."""

    def __init__(self, seed: str, held: bool = False) -> None:
        self.random = random.Random(seed)
        self.held = held

    def _pick(self, make: Callable[[], Asked]) -> Asked:
        while True:
            asked = make()
            if held_out(asked.key) == self.held:
                return asked

    def _written(self, title: str) -> str:
        """Returns a title as people write it."""
        way = self.random.random()
        if way < 0.55:
            return title
        if way < 0.8:
            return title.lower()
        return "\"" + title + "\""

    def _about(self, kind: str, forms: List[str], answer: Callable[[Fable], str]) -> Asked:
        def make() -> Asked:
            fable = self.random.choice(FABLES)
            form = self.random.choice(forms)
            short = fable.title[4:]
            text = form.format(t=self._written(fable.title), u=self.random.choice(["the ", ""]) + short.lower())
            return Asked(kind, form + fable.title, text, answer(fable), fable)
        return self._pick(make)

    def tell(self) -> Asked:
        return self._about("tell", ASKING_TELL, lambda f: f.text)

    def short(self) -> Asked:
        return self._about("short", ASKING_SHORT, lambda f: f.short)

    def moral(self) -> Asked:
        return self._about("moral", ASKING_MORAL, lambda f: f.moral)

    def meaning(self) -> Asked:
        return self._about("meaning", ASKING_MEANING, lambda f: f.meaning)

    def animals(self) -> Asked:
        def answer(fable: Fable) -> str:
            return "In it there is " + listed([with_article(a) for a in fable.animals]) + "."
        return self._about("animals", ASKING_ANIMALS, answer)

    def with_animal(self) -> Asked:
        def make() -> Asked:
            form = self.random.choice(ASKING_WITH)
            known = self.random.random() < 0.75
            animal = self.random.choice(ANIMALS if known else UNKNOWN_ANIMALS).lower()
            if not known:
                text = form.format(a=animal).replace(" a " + animal, " " + with_article(animal))
                return Asked("without", form + animal, text, NO_SUCH.format(a=with_article(animal)))
            titles = [f.title for f in FABLES if animal in f.animals]
            text = form.format(a=animal).replace(" a " + animal, " " + with_article(animal))
            return Asked("with", form + animal, text, f"There is {listed(titles)}.", BY_TITLE[titles[-1]])
        return self._pick(make)

    def _unknown_title(self) -> str:
        way = self.random.random()
        if way < 0.15:
            return self.random.choice(UNKNOWN_FABLES)
        if way < 0.5:
            a, b = self.random.sample(UNKNOWN_ANIMALS, 2)
            return self.random.choice(UNKNOWN_TITLES).format(a=a, b=b, t=self.random.choice(THINGS))
        # Both halves of known titles, in a pair that no title has.
        pairs = [tuple(part.strip() for part in f.title[4:].split(" and the ")) for f in FABLES if " and the " in f.title]
        while True:
            a, b = self.random.choice(pairs)[0], self.random.choice([p[1] for p in pairs] + THINGS + UNKNOWN_ANIMALS)
            title = f"The {a} and the {b}"
            if title not in BY_TITLE and a != b:
                return title

    def unknown(self) -> Asked:
        def make() -> Asked:
            title = self._unknown_title()
            form = self.random.choice(self.random.choice([ASKING_TELL, ASKING_SHORT, ASKING_MORAL, ASKING_MEANING]))
            text = form.format(t=self._written(title), u=self.random.choice(["the ", ""]) + title[4:].lower())
            other = self.random.choice(FABLES).title
            return Asked("unknown", title, text, self.random.choice(SORRY_FABLE).format(title=title, other=other))
        return self._pick(make)

    def outside(self) -> Asked:
        def make() -> Asked:
            form = self.random.choice(OUTSIDE)
            text = form.format(place=self.random.choice(PLACES), food=self.random.choice(FOODS),
                               thing=self.random.choice(MACHINES))
            return Asked("outside", text, text, self.random.choice(SORRY))
        return self._pick(make)

    def any(self) -> Asked:
        fable = self.random.choice(FABLES)
        return Asked("any", "", self.random.choice(ASKING_ANY), f"{fable.title}. {fable.text}", fable)

    def titles(self) -> Asked:
        titles = [f.title for f in self.random.sample(FABLES, 3)]
        return Asked("list", "", self.random.choice(ASKING_LIST), f"I know {listed(titles)}, and some more.")

    def small_talk(self) -> Asked:
        forms, answer = self.random.choice([
            (GREETINGS, HELLO), (THANKING, THANKS), (LEAVING, BYE),
            (ASKING_WHO, WHO.format(count=len(FABLES))), (ASKING_CAN, CAN)])
        text = self.random.choice(forms)
        return Asked("talk", "", text if self.random.random() < 0.8 else text.lower(), answer)

    def again(self, fable: Fable) -> Asked:
        """Asks a follow-up about the last fable."""
        kind, forms, answer = self.random.choice([
            ("short", AGAIN_SHORT, fable.short), ("moral", AGAIN_MORAL, fable.moral),
            ("meaning", AGAIN_MEANING, fable.meaning),
            ("animals", AGAIN_ANIMALS, "In it there is " + listed([with_article(a) for a in fable.animals]) + ".")])
        return Asked(kind, "", self.random.choice(forms), answer, fable)

    def add(self, tool: bool) -> Asked:
        def make() -> Asked:
            digits = self.random.choice([1, 2, 2, 3, 4])
            x, y = (self.random.randrange(10 ** self.random.randint(1, digits)) for _ in "xy")
            text = self.random.choice(ASKING_ADD).format(x=x, y=y)
            asked = Asked("add", f"{x}+{y}", text, NO_ADDING)
            if tool:
                asked.call = {"name": "add", "arguments": {"a": x, "b": y}}
                asked.result = str(x + y)
                asked.after = f"{x} and {y} make {x + y}."
            return asked
        return self._pick(make)

    def time(self, tool: bool) -> Asked:
        asked = Asked("time", "", self.random.choice(ASKING_TIME), NO_TIME)
        if tool:
            now = f"{self.random.randrange(24):02}:{self.random.randrange(60):02}"
            asked.call = {"name": "get_time", "arguments": {}}
            asked.result = now
            asked.after = f"It is {now}."
        return asked

    def weather(self, tool: bool) -> Asked:
        def make() -> Asked:
            place = self.random.choice(PLACES)
            form = self.random.choice(ASKING_WEATHER)
            asked = Asked("weather", form + place, form.format(p=place), self.random.choice(SORRY))
            if tool:
                asked.call = {"name": "get_weather", "arguments": {"city": place}}
                asked.result = f"{self.random.choice(SKIES)}, {self.random.randrange(-20, 40)} degrees"
                asked.after = f"In {place} it is {asked.result}."
            return asked
        return self._pick(make)

    def find(self) -> Asked:
        def make() -> Asked:
            fable = self.random.choice(FABLES) if self.random.random() < 0.75 else None
            title = fable.title if fable else self._unknown_title()
            form = self.random.choice(ASKING_FIND)
            asked = Asked("find", form + title, form.format(t=self._written(title), u=title.lower()), fable=fable)
            asked.call = {"name": "find_fable", "arguments": {"title": title}}
            asked.result = fable.text if fable else "not found"
            asked.after = f"I found it. {fable.text}" if fable else f"I could not find {title}."
            return asked
        return self._pick(make)

    def json_keys(self) -> List[str]:
        keys = ["title", "animals", "moral", "summary"]
        self.random.shuffle(keys)
        return keys[:self.random.randint(1, 4)]

    def json(self, keys: List[str], forms: List[str]) -> Asked:
        def make() -> Asked:
            fable = self.random.choice(FABLES)
            form = self.random.choice(forms)
            known = {"title": fable.title, "animals": list(fable.animals), "moral": fable.moral, "summary": fable.short}
            text = form.format(t=self._written(fable.title), k=listed(keys))
            answer = json.dumps({key: known[key] for key in keys})
            return Asked("json", form + fable.title, text, answer, fable, keys=keys)
        return self._pick(make)


@dataclass
class Conversation:
    messages: List[Message]
    tools: List[Dict[str, Any]]


def _call_message(call: Dict[str, Any]) -> Message:
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]}


def add_turn(conversation: Conversation, asked: Asked) -> None:
    messages = conversation.messages
    messages.append({"role": "user", "content": asked.text})
    if asked.call is None:
        messages.append({"role": "assistant", "content": asked.answer})
        return
    messages.append(_call_message(asked.call))
    messages.append({"role": "tool", "content": asked.result})
    messages.append({"role": "assistant", "content": asked.after})


def _varied(tool: Dict[str, Any], chance: random.Random) -> Dict[str, Any]:
    """Returns the tool as another program may describe it."""
    function = dict(tool["function"])
    if chance.random() < 0.5:
        function["description"] = chance.choice(DESCRIPTIONS.get(function["name"], [function["description"]]))
    parameters = dict(function["parameters"])
    properties = {key: dict(value) for key, value in parameters["properties"].items()}
    for key, value in properties.items():
        if chance.random() < 0.2:
            value["description"] = chance.choice(["The " + key + ".", "A " + value["type"] + ".", key])
        if value["type"] == "integer" and chance.random() < 0.2:
            limit = 10 ** chance.randint(2, 9)
            value["minimum"], value["maximum"] = chance.choice([(0, limit), (-limit, limit), (1, limit - 1)])
    parameters["properties"] = properties
    if chance.random() < 0.3:
        parameters["additionalProperties"] = False
    function["parameters"] = parameters
    if chance.random() < 0.3:
        function["strict"] = True
    for part in (function, parameters):
        if chance.random() < 0.4:
            order = list(part.items())
            chance.shuffle(order)
            part.clear()
            part.update(order)
    if chance.random() < 0.1:
        del function["description"]
    return {"type": "function", "function": function}


def make_tools(chance: random.Random) -> List[Dict[str, Any]]:
    """Returns no tools, or some of them in any order, and some that no question needs."""
    if chance.random() < 0.55:
        return []
    tools = chance.sample(TOOLS, chance.randint(1, 3))
    if chance.random() < 0.4:
        tools += chance.sample(OTHER_TOOLS, chance.randint(1, 2))
    chance.shuffle(tools)
    return [_varied(tool, chance) for tool in tools]


def conversation_of(seed: str) -> Conversation:
    """Returns a conversation of the training."""
    asker = Asker(seed)
    chance = asker.random
    made = Conversation([], make_tools(chance))
    names = {tool["function"]["name"] for tool in made.tools}
    if not made.tools and chance.random() < 0.12:
        keys = asker.json_keys()
        system = chance.choice(JSON_SYSTEMS).format(k=listed(keys))
        made.messages.append({"role": "system", "content": system})
        for _ in range(chance.randint(1, 2)):
            add_turn(made, asker.json(keys, ASKING_TELL[:8]))
        return made
    if chance.random() < 0.4:
        made.messages.append({"role": "system", "content": chance.choice(SYSTEMS)})
    last: Optional[Fable] = None
    for _ in range(chance.randint(1, 4)):
        kinds: List[Callable[[], Asked]] = [
            asker.tell, asker.tell, asker.tell, asker.short, asker.moral, asker.moral, asker.meaning, asker.animals,
            asker.with_animal, asker.with_animal, asker.unknown, asker.unknown, asker.outside, asker.outside, asker.any,
            asker.titles, asker.small_talk, asker.small_talk, lambda: asker.add("add" in names),
            lambda: asker.time("get_time" in names), lambda: asker.weather("get_weather" in names),
            lambda: asker.json(asker.json_keys(), ASKING_JSON), lambda: asker.json(asker.json_keys(), ASKING_JSON)]
        if "find_fable" in names:
            kinds += [asker.find] * 5
        if "add" in names:
            kinds += [lambda: asker.add(True)] * 6
        if "get_weather" in names:
            kinds += [lambda: asker.weather(True)] * 3
        if "get_time" in names:
            kinds += [lambda: asker.time(True)] * 2
        if last is not None and chance.random() < 0.5:
            asked = asker.again(last)
        else:
            asked = chance.choice(kinds)()
        last = asked.fable
        add_turn(made, asked)
    return made

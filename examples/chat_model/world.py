"""The world of the model: the fables that it knows, all of them our own."""

from dataclasses import dataclass
from typing import List, Tuple


@dataclass(frozen=True)
class Fable:
    title: str
    animals: Tuple[str, ...]
    text: str
    short: str
    moral: str
    meaning: str


def _fable(title: str, animals: str, text: str, short: str, moral: str, meaning: str) -> Fable:
    return Fable(title, tuple(animals.split()), text, short, moral, meaning)


FABLES: List[Fable] = [
    _fable("The Fox and the Well", "fox goat",
           "A fox fell into a well and could not climb out. A goat looked down and asked if the water was good. "
           "\"The best of all,\" said the fox, and the goat jumped in. The fox climbed on its back, sprang out and "
           "ran away. The goat stayed below and thought for a long time.",
           "A fox in a well tells a goat that the water is good. The goat jumps in, and the fox climbs out over it.",
           "Look where you will get out before you jump in.",
           "The goat thinks of the water only, and not of the way back."),
    _fable("The Crow and the Mirror", "crow",
           "A crow found a mirror and saw another crow in it. It brought the other crow a berry, but the mirror kept "
           "silent. Every day it brought more, and every day it went hungry. At last it ate the berries itself and "
           "felt thanked.",
           "A crow feeds its own picture in a mirror until it is hungry, and then eats the berries itself.",
           "Do not give all you have to those who only look like friends.",
           "The crow takes its own picture for a friend, but a friend gives something back."),
    _fable("The Hare and the Snail", "hare snail",
           "A hare laughed at a snail that carried its house. Then it rained for three days. The hare ran from bush "
           "to bush and was wet under all of them. The snail sat at home and was dry.",
           "A hare laughs at a snail and its house, until it rains for three days.",
           "What slows you down today may shelter you tomorrow.",
           "The hare sees that the house is heavy; the rain shows what it is good for."),
    _fable("The Lion and the Bee", "lion bee",
           "A lion roared at a bee because it flew too near. The bee flew nearer and stung its nose. The lion beat "
           "the air and hit nothing but itself. \"I am small,\" said the bee, \"but I have only one place to "
           "defend.\"",
           "A lion roars at a bee. The bee stings its nose, and the lion hits only itself.",
           "Strength is of no use against what it cannot catch.",
           "The lion is stronger than the bee, but its strength finds nothing to hit."),
    _fable("The Two Mice and the Cheese", "mouse cat",
           "Two mice found a cheese and quarrelled over the larger half. They asked a cat to cut it fairly. The cat "
           "bit from one half, then from the other, until nothing was left. Then it looked at the mice, and they "
           "ran.",
           "Two mice let a cat divide their cheese. The cat eats all of it.",
           "Who lets a thief judge will lose what is judged.",
           "The mice fear each other's greed more than the cat's, which is far greater."),
    _fable("The Owl and the Lamp", "owl moth",
           "An owl wondered why a moth flew around a lamp all night. \"It is the moon,\" said the moth. \"I have "
           "sat under the moon all my life,\" said the owl, \"and it never burnt anybody.\" The moth flew on and "
           "lost a wing.",
           "An owl warns a moth that a lamp is not the moon. The moth flies on and loses a wing.",
           "Not all that shines will light your way.",
           "The moth takes what is near and bright for what is great and far."),
    _fable("The Frog and the River", "frog heron",
           "A frog wanted to drink the river dry, so that the heron would leave. It drank until it could not hop. The "
           "river flowed on as before. The heron had never seen so slow a frog.",
           "A frog drinks to empty a river and becomes too heavy to hop. The heron catches up with it.",
           "A plan that is too large makes only the planner weak.",
           "The frog fights the river, which does not notice, and forgets its true enemy."),
    _fable("The Donkey and the Bell", "donkey",
           "A donkey was given a bell and walked proudly through the village. All turned their heads. \"They admire "
           "me,\" it thought, and ran through the gardens at night. The bell rang, and the gardeners always knew where "
           "to bring their sticks.",
           "A donkey is proud of its bell, until the bell betrays it in the gardens at night.",
           "What makes you noticed makes you found.",
           "The donkey likes to be heard, but the same sound tells where it does wrong."),
    _fable("The Wolf and the Shepherd's Coat", "wolf sheep",
           "A wolf put on the coat of a shepherd and stood among the sheep. The sheep came near and were calm. But "
           "when it opened its mouth to call them, it howled. The sheep ran, and the true shepherd came.",
           "A wolf in a shepherd's coat fools the sheep until it has to speak.",
           "A coat may be borrowed, but not a voice.",
           "The wolf changes how it looks, but what it is comes out when it speaks."),
    _fable("The Ant and the Leaf", "ant",
           "An ant found a leaf that was a hundred times its size. It pulled for a whole day, and the leaf did not "
           "move. In the evening it cut off a small piece and carried it home. After a hundred evenings the leaf was "
           "gone.",
           "An ant cannot move a leaf, so it carries it home in a hundred pieces.",
           "What is too heavy at once is light in pieces.",
           "The ant stops pulling and starts cutting: patience does what strength cannot."),
    _fable("The Peacock and the Sparrow", "peacock sparrow",
           "A peacock asked a sparrow why it wore so plain a coat. Just then a hunter came through the trees. The "
           "sparrow sat still and was not seen. The peacock tried to hide, but there was no bush as large as its "
           "tail.",
           "A peacock mocks a plain sparrow. When a hunter comes, only the sparrow can hide.",
           "Beauty is a poor place to hide.",
           "The peacock is proud of its tail, and the tail is what puts it in danger."),
    _fable("The Bear and the Honey", "bear bee",
           "A bear put its paw into a hive and could not pull it out again, so full of honey was it. \"Let go,\" said "
           "a bee, \"and you are free.\" The bear held on. It stood there till the evening with a full paw and an "
           "empty stomach.",
           "A bear will not let go of the honey in its paw, and so it can neither leave nor eat.",
           "Who will not let go is held.",
           "Nothing holds the bear but its own greed."),
    _fable("The Turtle and the Eagle", "turtle eagle",
           "A turtle asked an eagle to show it the sky. The eagle carried it up, and the turtle opened its mouth to "
           "praise the view. \"Higher!\" it cried, and again, \"Higher!\" At last the eagle grew tired and set it down "
           "on a rock, and from there it had to walk home for a year.",
           "A turtle in the air always wants to go higher, until the tired eagle leaves it on a far rock.",
           "Remember the way back before you ask for more.",
           "The turtle enjoys what the eagle gives and forgets who carries it."),
    _fable("The Spider and the Wind", "spider",
           "A spider was angry because the wind tore its web every night. It made the threads thicker, and the wind "
           "tore them all the same. Then it left gaps between the threads. The wind went through, and the web stayed.",
           "A spider's web is torn by the wind until the spider leaves gaps for it.",
           "Give way a little, and you need not break.",
           "The spider cannot be stronger than the wind, but it can let it pass."),
    _fable("The Dog and the Two Bones", "dog",
           "A dog buried one bone at each end of a field. When it lay at one end, it feared for the other bone. So it "
           "ran from end to end all day. In the evening it was too tired to eat, and the crows had both.",
           "A dog runs between two buried bones to guard them both, and loses both.",
           "Who guards everything enjoys nothing.",
           "The dog has more than it needs, and its worry takes it all away."),
    _fable("The Cat and the Painted Fish", "cat",
           "A cat sat before a picture of a fish and waited for it to swim. A kitten caught a small fish in the brook "
           "and ate it. \"Mine is much larger,\" said the cat. \"And mine,\" said the kitten, \"was wet.\"",
           "A cat admires a large painted fish while a kitten eats a small real one.",
           "Something small that is real is more than something great that is not.",
           "The cat would rather wait for much than have a little."),
    _fable("The Rooster and the Sun", "rooster hen",
           "A rooster believed that the sun rose because it crowed. One morning it was hoarse and kept silent. The sun "
           "rose all the same. \"It has learnt to do it by itself,\" said the rooster to a hen.",
           "A rooster thinks that its crowing makes the sun rise. One day it is silent, and the sun rises anyway.",
           "The proud find a reason for everything but their mistakes.",
           "The rooster is shown that it is wrong, and even then it praises itself."),
    _fable("The Squirrel and the Oak", "squirrel",
           "A squirrel buried its nuts so well that it forgot one of them. It was angry about it all winter. Years "
           "later its children sat in a young oak and ate. \"Who planted this?\" they asked, and nobody knew.",
           "A squirrel is angry about a nut that it lost. The nut becomes an oak that feeds its children.",
           "What is lost to you may feed another.",
           "The squirrel sees only the loss, for it takes years to see the gain."),
    _fable("The Horse and the Fly", "horse fly",
           "A fly sat on a horse that pulled a plough. In the evening the fly said to the others, \"We have ploughed "
           "the field today.\" The horse shook its head, for it was tired. The fly went on to tell how heavy the plough "
           "had been.",
           "A fly that sat on a horse tells all the others that they ploughed the field together.",
           "Who does the least often tells the most.",
           "The horse has no need to talk about its work, and the fly has nothing else."),
    _fable("The Goose and the Map", "goose",
           "A goose found a map and would not fly without it. The flock rose and followed the stars. The goose turned "
           "the map this way and that until the snow came. Then it saw that the map was of another country.",
           "A goose studies a map while its flock flies south by the stars. The map is of another country.",
           "Better a few sure signs than a great plan of somewhere else.",
           "The goose trusts paper more than those who know the way."),
]

BY_TITLE = {fable.title: fable for fable in FABLES}
ANIMALS = sorted({animal for fable in FABLES for animal in fable.animals})

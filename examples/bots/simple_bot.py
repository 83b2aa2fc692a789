"""A gin rummy bot for okgin_env in plain Python: python simple_bot.py speaks docs/protocol.md.

It looks at requests only, so it keeps nothing from one to the next. It takes the top of the pile when that makes a
meld or lowers its deadwood, discards what leaves least, and knocks as soon as it may.
"""

import json
import sys

RANKS = "A23456789TJQK"
SUITS = "scdh"


def card_id(card):
    """Place of a card such as "Td" in the deck: suits in the order s c d h, aces low."""
    return 13 * SUITS.index(card[1]) + RANKS.index(card[0])


def pips(card):
    """What a card counts when it is in no meld."""
    return min(RANKS.index(card[0]) + 1, 10)


def melds(cards):
    """Every set and run in the cards."""
    held = set(cards)
    found = []
    for rank in RANKS:
        same = [rank + suit for suit in SUITS if rank + suit in held]
        if len(same) >= 3:
            found.append(same)
        if len(same) == 4:
            found += [[card for card in same if card != left_out] for left_out in same]
    for suit in SUITS:
        for first in range(len(RANKS)):
            run = []
            for rank in RANKS[first:]:
                if rank + suit not in held:
                    break
                run.append(rank + suit)
                if len(run) >= 3:
                    found.append(list(run))
    return found


def deadwood(cards):
    """The least pips that can be left outside melds."""
    sets = [(set(meld), sum(map(pips, meld))) for meld in melds(cards)]

    def most_melded(first, free):
        best = 0
        for k in range(first, len(sets)):
            meld, worth = sets[k]
            if meld <= free:
                best = max(best, worth + most_melded(k + 1, free - meld))
        return best

    return sum(map(pips, cards)) - most_melded(0, set(cards))


def without(cards, card):
    """The cards but one."""
    return [other for other in cards if other != card]


def wants(cards, top):
    """Whether the top of the pile would lie in a meld, or lowers the deadwood after the best discard."""
    more = [*cards, top]
    if any(top in meld for meld in melds(more)):
        return True
    return min(deadwood(without(more, card)) for card in cards) < deadwood(cards)


def choose(request):
    """The move for a request."""
    cards, legal = request["cards"], request["legal"]
    if "take" in legal:
        other = "pass" if "pass" in legal else "draw"
        return "take" if wants(cards, request["top"]) else other
    if "big gin" in legal:
        return "big gin"
    allowed = [move.split()[1] for move in legal if move.startswith("discard")]
    # Least deadwood first; of equals the one that counts most, then the lowest in the deck.
    card = min(allowed, key=lambda c: (deadwood(without(cards, c)), -pips(c), card_id(c)))
    return f"knock {card}" if f"knock {card}" in legal else f"discard {card}"


def say(message):
    """Sends a line; without the flush it would wait in a buffer."""
    print(json.dumps(message), flush=True)


def main():
    """Answers until there is no more to read."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "hello", "name": "simple_bot"})
        elif message["type"] == "request":
            say({"type": "move", "id": message["id"], "move": choose(message)})
        elif message["type"] == "bye":
            return


if __name__ == "__main__":
    main()

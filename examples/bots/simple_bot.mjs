// A gin rummy bot for okgin_env in JavaScript: node simple_bot.mjs speaks docs/protocol.md.
//
// The same bot as simple_bot.py: it plays the same moves. It looks at requests only, takes the top of the pile when that
// makes a meld or lowers its deadwood, discards what leaves least, and knocks as soon as it may.

import { createInterface } from "node:readline";

const RANKS = "A23456789TJQK";
const SUITS = "scdh";

// Place of a card such as "Td" in the deck: suits in the order s c d h, aces low.
const cardId = (card) => 13 * SUITS.indexOf(card[1]) + RANKS.indexOf(card[0]);

// What a card counts when it is in no meld.
const pips = (card) => Math.min(RANKS.indexOf(card[0]) + 1, 10);

const total = (cards) => cards.reduce((sum, card) => sum + pips(card), 0);

// The cards but one.
const without = (cards, card) => cards.filter((other) => other !== card);

// Every set and run in the cards.
function melds(cards) {
  const held = new Set(cards);
  const found = [];
  for (const rank of RANKS) {
    const same = [...SUITS].map((suit) => rank + suit).filter((card) => held.has(card));
    if (same.length >= 3) found.push(same);
    if (same.length === 4) found.push(...same.map((leftOut) => without(same, leftOut)));
  }
  for (const suit of SUITS) {
    for (let first = 0; first < RANKS.length; first++) {
      const run = [];
      for (let at = first; at < RANKS.length && held.has(RANKS[at] + suit); at++) {
        run.push(RANKS[at] + suit);
        if (run.length >= 3) found.push([...run]);
      }
    }
  }
  return found;
}

// The least pips that can be left outside melds.
function deadwood(cards) {
  const found = melds(cards);
  const mostMelded = (first, free) => {
    let best = 0;
    for (let k = first; k < found.length; k++) {
      if (!found[k].every((card) => free.has(card))) continue;
      const rest = new Set([...free].filter((card) => !found[k].includes(card)));
      best = Math.max(best, total(found[k]) + mostMelded(k + 1, rest));
    }
    return best;
  };
  return total(cards) - mostMelded(0, new Set(cards));
}

// Whether the top of the pile would lie in a meld, or lowers the deadwood after the best discard.
function wants(cards, top) {
  const more = [...cards, top];
  if (melds(more).some((meld) => meld.includes(top))) return true;
  return Math.min(...cards.map((card) => deadwood(without(more, card)))) < deadwood(cards);
}

// The card whose discard leaves least; of equals the one that counts most, then the lowest in the deck.
function worst(cards, allowed) {
  const keys = allowed.map((card) => [deadwood(without(cards, card)), -pips(card), cardId(card)]);
  const before = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  let best = 0;
  for (let k = 1; k < allowed.length; k++) if (before(keys[k], keys[best]) < 0) best = k;
  return allowed[best];
}

// The move for a request.
function choose({ cards, legal, top }) {
  if (legal.includes("take")) {
    const other = legal.includes("pass") ? "pass" : "draw";
    return wants(cards, top) ? "take" : other;
  }
  if (legal.includes("big gin")) return "big gin";
  const discards = legal.filter((move) => move.startsWith("discard"));
  const card = worst(cards, discards.map((move) => move.split(" ")[1]));
  return legal.includes(`knock ${card}`) ? `knock ${card}` : `discard ${card}`;
}

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") say({ type: "hello", name: "simple_bot" });
  else if (message.type === "request") say({ type: "move", id: message.id, move: choose(message) });
  else if (message.type === "bye") lines.close();
});

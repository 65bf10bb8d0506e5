// The search of Sphinx shows pages that say what to do before the names of the API.
const FIRST = [["guide/", 30], ["gallery/", 5], ["install", 10], ["theory/", 0], ["develop/", -15]];
var Scorer = {
  score: ([page, , , , score]) =>
    score + (FIRST.find(([start]) => page.startsWith(start)) || ["", 0])[1],
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

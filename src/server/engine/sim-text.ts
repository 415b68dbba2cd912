/**
 * Words whose form with a blank before them is one token of the Qwen vocabularies, and so is the bare word: a text
 * of n of them has n tokens, so that a client's tokenizer and the server's usage agree. A test holds them to it.
 */
export const singleTokenWords: readonly string[] = (
  'the of and to in is that for it as was with be by on not he this are or his from at which but have an had ' +
  'they you were their one all we can her has there been if more when will would who so no out up into do any ' +
  'what time people way day man thing woman life child world school state family student group country problem ' +
  'hand part place case week company system program question work government number night point home water room ' +
  'mother area money story fact month lot right study book eye job word business issue side kind head house ' +
  'service friend father power hour game line end member law car city community name team minute idea body ' +
  'information back parent face others level office door health person art war history party result change ' +
  'reason research girl moment air teacher force education foot boy age policy music market sense nation plan ' +
  'college interest experience effect use class control field development role rate heart leader light voice ' +
  'mind price report decision son view relationship town road arm difference value building action season tax ' +
  'director position player record paper space ground form event matter center site project base activity star ' +
  'table need court oil cost industry figure street image phone data picture practice piece land product doctor ' +
  'wall worker news test movie north love support step source river bridge window silver forest train station ' +
  'paint letter bird summer winter spring stone green blue yellow simple quiet early small large open close near ' +
  'over under between through against during without before after around another along while because until since ' +
  'although'
).split(' ');

const spacedWords = singleTokenWords.map((word) => ` ${word}`);

/** A step through the list that shares no factor with its length, so that neighbours differ from list order. */
const stride = 89;

/**
 * The text of one simulated token.
 * @param start where the request's text starts, a whole number ≥ 0
 * @param index which token of the request, from 0
 */
export function simulatedToken(start: number, index: number): string {
  return spacedWords[(start + index * stride) % spacedWords.length] ?? ' the';
}

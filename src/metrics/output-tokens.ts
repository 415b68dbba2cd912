import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { tokensAt } from './token-events.ts';

/**
 * Length of a reply in tokens: what server or tokenizer counted; else 0 for a reply of other media without text;
 * else, as the reference counts them, 1 where no tokenizer could count. Output that a tokenizer didn't see
 * (reasoning, tool calls) is counted by its chunks.
 */
export function outputTokensOf(
  record: RequestRecord,
  run: Pick<RunFacts, 'endpoint' | 'hasTokenizer'>,
): number {
  if (record.outputTokens !== null && record.outputTokens > 0) return record.outputTokens;
  const chunkTokens = countedTokens(record);
  const isOther = run.endpoint.output !== 'text' || hasMedia(record);
  if (record.text === '' && chunkTokens === 0 && isOther) return 0;
  return run.hasTokenizer ? chunkTokens : 1;
}

function hasMedia(record: RequestRecord): boolean {
  return record.audio !== null || (record.image?.count ?? 0) > 0 || record.video !== null;
}

function countedTokens(record: RequestRecord): number {
  let tokens = 0;
  for (let i = 0; i < record.events.kinds.length; i += 1) tokens += tokensAt(record.events, i);
  return tokens;
}

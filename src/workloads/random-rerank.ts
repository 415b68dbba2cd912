import { UsageError } from '../foundation/errors.ts';
import type { Dataset, DatasetOptions, LoadContext } from './dataset.ts';
import { groupsOf, knownSum } from './random-batches.ts';
import { drawRandomLengths, type RandomLengths } from './random-lengths.ts';
import { randomTexts } from './random-texts.ts';
import type { Sample } from './sample.ts';

/** A reranker reads query and document as one text with this many tokens between them. */
const separatorTokens = 1;

type RerankPlan = {
  readonly numDocuments: number;
  /** Documents of a request. */
  readonly batchSize: number;
  /** Tokens that stand between query and document; 0 where they are read apart. */
  readonly separator: number;
  readonly queryTokens: number;
  /** Around which the length of documents is drawn, given the query's. */
  documentTokens(queryTokens: number): number;
};

/** @throws UsageError where there would be no document beside the query */
function planOf({ numPrompts, options }: LoadContext): RerankPlan {
  const { randomInputLen: inputTokens, randomBatchSize: batchSize } = options;
  if (!options.noReranker)
    return {
      numDocuments: numPrompts,
      batchSize,
      separator: separatorTokens,
      queryTokens: Math.floor(inputTokens / 2) - separatorTokens,
      documentTokens: (queryTokens) => inputTokens - queryTokens - separatorTokens,
    };
  if (numPrompts <= 1 || batchSize <= 1)
    throw new UsageError(
      `--no-reranker needs --num-prompts and --random-batch-size above 1, got ${numPrompts} and ${batchSize}: the query takes one place in every request, and counts as one prompt.`,
    );
  return {
    numDocuments: numPrompts - 1,
    batchSize: batchSize - 1,
    separator: 0,
    queryTokens: inputTokens,
    documentTokens: () => inputTokens,
  };
}

function lengthsOf(
  context: LoadContext,
  draw: { readonly inputTokens: number; readonly count: number; readonly purpose: string },
): RandomLengths {
  const { tokenizer, options, seed } = context;
  const rangeRatio: DatasetOptions['randomRangeRatio'] = { ...options.randomRangeRatio, output: 0 };
  return drawRandomLengths({
    inputTokens: draw.inputTokens,
    outputTokens: 0,
    prefixTokens: 0,
    rangeRatio,
    specialTokens: tokenizer?.specialTokensAdded ?? 0,
    numPrompts: draw.count,
    seed,
    vocabSize: tokenizer?.vocabSize ?? 1,
    purpose: draw.purpose,
  });
}

/** One random query, and requests of documents to be ranked for it. */
async function load(context: LoadContext): Promise<readonly Sample[]> {
  const plan = planOf(context);
  const query = lengthsOf(context, { inputTokens: plan.queryTokens, count: 1, purpose: 'rerank-query' });
  const documents = lengthsOf(context, {
    inputTokens: plan.documentTokens(query.bodyTokens[0] ?? 0),
    count: plan.numDocuments,
    purpose: 'rerank-documents',
  });
  const [first, ...texts] = await randomTexts(context, {
    prefixTokens: 0,
    bodyTokens: [...query.bodyTokens, ...documents.bodyTokens],
    starts: [...query.starts, ...documents.starts],
  });
  if (first === undefined) return [];
  return groupsOf(texts, plan.batchSize).map((group, index) => {
    // A reranker reads the query before every document; an embedding model reads it once.
    const queries = plan.separator > 0 ? group.length : 1;
    const queryTokens = first.tokens === null ? null : (first.tokens + plan.separator) * queries;
    return {
      prompt: [first.text, ...group.map(({ text }) => text)],
      promptTokens: knownSum([queryTokens, ...group.map(({ tokens }) => tokens)]),
      expectedOutputTokens: 0,
      media: [],
      requestId: `${context.requestIdPrefix}${index}`,
    };
  });
}

/** Documents to be ranked for a query: lists whose first text is the query. */
export const randomRerank: Dataset = {
  name: 'random-rerank',
  doc: 'One random query and batches of random documents, for rerank and embeddings backends.',
  flags: ['random-input-len', 'random-range-ratio', 'random-batch-size', 'no-reranker'],
  load,
};

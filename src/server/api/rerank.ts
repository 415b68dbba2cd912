import type { FastifyInstance } from 'fastify';
import { type RerankResponse, rerankRequestSchema, scoreRequestSchema } from '../../protocol/rerank.ts';
import type { ApiContext } from './api-context.ts';
import type { CollectedRun } from './collect-run.ts';
import { requireCapability, stageIdsGiving } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { RunRequest } from './reply-life.ts';
import { checkContext, checkModel, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { runAll } from './run-all.ts';
import { paramsOfStages } from './stage-params.ts';
import { sendJson } from './whole-reply.ts';

/** Most pairs of texts in one request. */
const mostPairs = 2048;

type Pair = { readonly query: string; readonly document: string };

async function planPairs(
  pairs: readonly Pair[],
  path: string,
  context: ApiContext,
): Promise<{ readonly runs: RunRequest[]; readonly promptTokens: number }> {
  if (pairs.length > mostPairs)
    throw new RequestError(400, `At most ${mostPairs} pairs of texts in one request.`);
  const runs: RunRequest[] = [];
  let promptTokens = 0;
  for (const pair of pairs) {
    const tokens =
      (await countPromptTokens(pair.query, context.countTokens, context.pipeline.maxModelLen)) +
      (await countPromptTokens(pair.document, context.countTokens, context.pipeline.maxModelLen));
    checkContext(tokens, 0, context.pipeline.maxModelLen);
    promptTokens += tokens;
    runs.push({
      promptTokens: tokens,
      finalStageIds: stageIdsGiving(context, 'pooling'),
      params: paramsOfStages(context.pipeline, {}, null),
      initialChunkFrames: null,
      keepGaps: false,
      task: { kind: 'score', ...pair },
      source: { route: path, body: { query: pair.query, documents: [pair.document] } },
    });
  }
  return { runs, promptTokens };
}

function scoreOf({ artifact }: CollectedRun): number {
  if (artifact?.kind === 'score') return artifact.score;
  throw new RequestError(500, 'A score was asked for, but none was produced.');
}

/** `POST /rerank`: documents in the order of their relevance to a query. */
function rerankRoute(app: FastifyInstance, context: ApiContext, path: string): void {
  app.post(path, async (request, reply) => {
    requireCapability(context, 'rerank');
    const body = parseBody(rerankRequestSchema, request.body);
    checkModel(body.model, context);
    const documents = body.documents.map((document) =>
      typeof document === 'string' ? document : document.text,
    );
    const pairs = documents.map((document) => ({ query: body.query, document }));
    const { runs, promptTokens } = await planPairs(pairs, path, context);
    openReply(context, request, reply, body.model ?? null, async (life) => {
      const scores = (await runAll(life, runs)).map(scoreOf);
      const best = scores
        .map((score, index) => ({ index, score }))
        .sort((a, b) => b.score - a.score)
        .slice(0, body.top_n || undefined);
      const answer: RerankResponse = {
        id: `rerank-${life.accepted.id}`,
        model: context.servedModelName,
        usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
        results: best.map(({ index, score }) => ({
          index,
          ...(body.return_documents === false ? {} : { document: { text: documents[index] ?? '' } }),
          relevance_score: score,
        })),
      };
      sendJson(life, JSON.stringify(answer));
    });
  });
}

function listOf(texts: string | readonly string[]): readonly string[] {
  return typeof texts === 'string' ? [texts] : texts;
}

/** `POST /score`: one text against each of the others, or pairs in order. */
function scoreRoute(app: FastifyInstance, context: ApiContext, path: string): void {
  app.post(path, async (request, reply) => {
    requireCapability(context, 'rerank');
    const body = parseBody(scoreRequestSchema, request.body);
    checkModel(body.model, context);
    const queries = listOf(body.text_1);
    const documents = listOf(body.text_2);
    if (queries.length !== 1 && queries.length !== documents.length)
      throw new RequestError(400, 'text_1 must be one text, or as many as text_2.', 'text_1');
    const pairs = documents.map((document, index) => ({
      query: queries.length === 1 ? (queries[0] ?? '') : (queries[index] ?? ''),
      document,
    }));
    const { runs, promptTokens } = await planPairs(pairs, path, context);
    openReply(context, request, reply, body.model ?? null, async (life) => {
      const scores = (await runAll(life, runs)).map(scoreOf);
      const answer = {
        id: `score-${life.accepted.id}`,
        object: 'list',
        created: life.accepted.createdS,
        model: context.servedModelName,
        data: scores.map((score, index) => ({ index, object: 'score', score })),
        usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, completion_tokens: 0 },
      };
      sendJson(life, JSON.stringify(answer));
    });
  });
}

/** `/rerank` and `/score`, with and without a version. */
export function rerankRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const path of ['/rerank', '/v1/rerank', '/v2/rerank']) rerankRoute(app, context, path);
  for (const path of ['/score', '/v1/score']) scoreRoute(app, context, path);
}

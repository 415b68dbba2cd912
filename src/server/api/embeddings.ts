import type { FastifyInstance } from 'fastify';
import type { EmbeddingResponse } from '../../protocol/embeddings.ts';
import type { ApiContext } from './api-context.ts';
import type { CollectedRun } from './collect-run.ts';
import { planEmbedding } from './embedding-plan.ts';
import { requireCapability } from './model-routes.ts';
import { openReply } from './open-reply.ts';
import { RequestError } from './request-error.ts';
import { runAll } from './run-all.ts';
import { sendJson } from './whole-reply.ts';

const path = '/v1/embeddings';

/** The vector of a run. @throws RequestError 500 where there is none */
export function vectorOf({ artifact }: CollectedRun): Float32Array {
  if (artifact?.kind === 'embedding') return artifact.values;
  throw new RequestError(500, 'A vector was asked for, but none was produced.');
}

/** A vector as numbers, or as base64 of 32-bit little-endian floats. */
export function encodeVector(values: Float32Array, asBase64: boolean): number[] | string {
  if (!asBase64) return Array.from(values);
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

/** `POST /v1/embeddings` */
export function embeddingsRoute(app: FastifyInstance, context: ApiContext): void {
  app.post(path, async (request, reply) => {
    requireCapability(context, 'embeddings');
    const plan = await planEmbedding(request.body, path, context);
    openReply(context, request, reply, plan.model, async (life) => {
      const runs = await runAll(life, plan.runs);
      const body: EmbeddingResponse = {
        id: `embd-${life.accepted.id}`,
        object: 'list',
        created: life.accepted.createdS,
        model: context.servedModelName,
        data: runs.map((run, index) => ({
          object: 'embedding',
          index,
          embedding: encodeVector(vectorOf(run), plan.asBase64),
        })),
        usage: { prompt_tokens: plan.promptTokens, total_tokens: plan.promptTokens, completion_tokens: 0 },
      };
      sendJson(life, JSON.stringify(body));
    });
  });
}

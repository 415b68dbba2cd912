import type { FastifyInstance } from 'fastify';
import type { ModelCard, ModelList } from '../../protocol/models.ts';
import type { ApiContext } from './api-context.ts';
import { RequestError } from './request-error.ts';

function modelCard({ servedModelName, startedS, pipeline }: ApiContext): ModelCard {
  return {
    id: servedModelName,
    object: 'model',
    created: startedS,
    owned_by: 'vllm',
    root: servedModelName,
    parent: null,
    max_model_len: pipeline.maxModelLen,
    permission: [
      {
        id: `modelperm-${startedS}`,
        object: 'model_permission',
        created: startedS,
        allow_create_engine: false,
        allow_sampling: true,
        allow_logprobs: true,
        allow_search_indices: false,
        allow_view: true,
        allow_fine_tuning: false,
        organization: '*',
        group: null,
        is_blocking: false,
      },
    ],
  };
}

/** `GET /v1/models` and `GET /v1/models/{id}`; an id may hold slashes. */
export function modelsRoute(app: FastifyInstance, context: ApiContext): void {
  const card = modelCard(context);
  const list: ModelList = { object: 'list', data: [card] };
  app.get('/v1/models', () => list);
  app.get<{ Params: { '*': string } }>('/v1/models/*', (request) => {
    const asked = request.params['*'];
    if (asked === card.id || asked === card.id.replace(/^\/+/, '')) return card;
    throw new RequestError(404, `The model \`${asked}\` does not exist.`, 'model');
  });
}

import type { FastifyInstance } from 'fastify';

/** Which methods a server's paths take. */
export type RouteMethods = {
  /** Methods of the routes for a path, without its query; empty = no route has it. */
  of(path: string): readonly string[];
};

/** Whether a path has the form of a route: `:name` is any one segment, `*` any rest. */
function fits(path: string, route: string): boolean {
  const given = path.replace(/\/$/, '').split('/');
  const form = route.replace(/\/$/, '').split('/');
  const rest = form.indexOf('*');
  if (rest < 0 ? given.length !== form.length : given.length <= rest) return false;
  const fixed = rest < 0 ? form : form.slice(0, rest);
  return fixed.every((part, at) => part === given[at] || (part.startsWith(':') && given[at] !== ''));
}

/** Learns the routes that are declared from now on. */
export function routeMethods(app: FastifyInstance): RouteMethods {
  const routes: { readonly url: string; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ url, methods: [method].flat() });
  });
  return {
    of: (path) => [...new Set(routes.filter(({ url }) => fits(path, url)).flatMap(({ methods }) => methods))],
  };
}

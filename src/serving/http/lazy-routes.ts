import type { Route } from './route.ts'

/** Routes that are made when one of them is first requested: what they need costs memory, and many nodes are never asked. */
export function createLazyRoutes(
  shapes: readonly Pick<Route, 'path' | 'methods'>[],
  load: () => Promise<readonly Route[]>,
): readonly Route[] {
  return shapes.map((shape) => ({
    ...shape,
    async handle(request, response) {
      const route = (await load()).find(({ path }) => path === shape.path)
      if (route === undefined) throw new Error(`Cannot serve "${shape.path}": nobody does`)
      await route.handle(request, response)
    },
  }))
}

import type { Route } from './route.ts'

/** Routes that are made once, when one of them is first requested: what they need costs memory, and many nodes are never asked. */
export function createLazyRoutes(
  shapes: readonly Pick<Route, 'path' | 'methods'>[],
  load: () => Promise<readonly Route[]>,
): readonly Route[] {
  let loading: Promise<readonly Route[]> | undefined
  const loadOnce = () =>
    (loading ??= load().catch((error: unknown) => {
      // The next request tries again.
      loading = undefined
      throw error
    }))
  return shapes.map((shape) => ({
    ...shape,
    async handle(request, response) {
      const route = (await loadOnce()).find(({ path }) => path === shape.path)
      if (route === undefined) throw new Error(`Cannot serve "${shape.path}": it has no route`)
      await route.handle(request, response)
    },
  }))
}

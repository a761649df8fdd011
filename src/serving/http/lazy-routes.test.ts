import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createLazyRoutes } from './lazy-routes.ts'
import type { Route, RouteRequest } from './route.ts'

test('lazy routes are made at the first request, once for all, and again only when that failed', async () => {
  const shapes = [
    { path: '/a', methods: 'any' },
    { path: '/b', methods: 'any' },
  ] as const
  const served: string[] = []
  let loads = 0
  const routes = createLazyRoutes(shapes, async () => {
    loads += 1
    if (loads === 1) throw new Error('too many open files')
    return shapes.map((shape): Route => ({ ...shape, handle: async () => void served.push(shape.path) }))
  })
  const ask = async (path: string) =>
    await routes.find((route) => route.path === path)?.handle({} as RouteRequest, {} as ServerResponse)
  assert.equal(loads, 0)
  await assert.rejects(ask('/a'), /too many open files/)
  await Promise.all([ask('/a'), ask('/b')])
  await ask('/b')
  assert.deepEqual(served, ['/a', '/b', '/b'])
  assert.equal(loads, 2)
})

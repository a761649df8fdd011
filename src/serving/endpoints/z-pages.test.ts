import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveRoutes, reported } from '../../../test/fakes/serve-routes.ts'
import { createFlagzRoute, createStatuszRoute } from './z-pages.ts'

const routes = [
  createFlagzRoute(() => ({ 'node-ip': '::1', v: '2' })),
  createStatuszRoute(() => ({
    startedAt: Date.UTC(2026, 0, 1),
    uptimeSeconds: 90.5,
    platformVersion: 'node26',
    version: 'v1.36.4',
    emulatedVersion: 'v1.36',
    paths: ['/healthz', '/pods'],
  })),
]

test('/flagz and /statusz answer people in text and programs in the form that they ask for', async (t) => {
  const ask = await serveRoutes(t, routes)
  const [status, text] = await reported(ask('/flagz'))
  assert.equal(status, 200)
  assert.match(text, /^kubelet flagz\n/)
  assert.match(text, /\nnode-ip=::1\nv=2\n$/)
  assert.match((await reported(ask('/statusz')))[1], /\nUp: 90 s\n.*\nBinary version: v1.36.4\n/)
  const structured = { accept: 'application/json;v=v1beta1;g=config.k8s.io;as=Flagz' }
  assert.deepEqual(await (await ask('/flagz', { headers: structured })).json(), {
    kind: 'Flagz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'kubelet' },
    flags: { 'node-ip': '::1', v: '2' },
  })
  const old = await ask('/statusz', { headers: { accept: 'application/yaml;v=v1alpha1;g=config.k8s.io;as=Statusz' } })
  assert.match(old.headers.get('warning') ?? '', /deprecated/)
  assert.deepEqual(await old.json(), {
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1alpha1',
    metadata: { name: 'kubelet' },
    startTime: '2026-01-01T00:00:00Z',
    uptimeSeconds: 90,
    goVersion: 'node26',
    binaryVersion: 'v1.36.4',
    emulationVersion: 'v1.36',
    paths: ['/healthz', '/pods'],
  })
  assert.equal((await ask('/flagz', { headers: { accept: 'application/json' } })).status, 406)
})

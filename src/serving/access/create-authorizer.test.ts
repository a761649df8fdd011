import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createAuthorizer } from './create-authorizer.ts'
import { computeAccessQuestion } from './compute-access-question.ts'

const { signal } = new AbortController()
const jane = { name: 'jane', groups: ['system:authenticated'] }
const nobody = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

test('computeAccessQuestion() asks for the finest right first', () => {
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['GET', '/pods', 'get', ['pods', 'proxy']],
    ['GET', '/runningpods', 'get', ['pods', 'proxy']],
    ['GET', '/healthz/ping', 'get', ['healthz', 'proxy']],
    ['GET', '/configz', 'get', ['configz', 'proxy']],
    ['POST', '/stats/summary', 'create', ['stats']],
    ['PUT', '/metrics/slis', 'update', ['metrics']],
    ['GET', '/logs/a/b', 'get', ['log']],
    ['POST', '/checkpoint/n/p/c', 'create', ['checkpoint']],
    ['GET', '/statusz', 'get', ['statusz']],
    ['GET', '/flagz', 'get', ['configz']],
    ['GET', '/exec/n/p/c', 'get', ['proxy']],
    ['DELETE', '/debug/pprof/heap', 'delete', ['proxy']],
    ['PATCH', '/podsandmore', 'patch', ['proxy']],
    ['HEAD', '/constructor', '', ['proxy']],
  ]
  for (const [method, path, verb, subresources] of rows)
    assert.deepEqual(computeAccessQuestion(method, path), { verb, subresources }, path)
})

test('createAuthorizer() takes the first right that is there, and names those that are not', async () => {
  const asked: string[] = []
  const rights = new Set(['proxy'])
  const reviews = {
    isAllowed(_: unknown, { verb, subresource }: { verb: string; subresource: string }) {
      asked.push(`${verb} ${subresource}`)
      if (subresource === 'stats') return Promise.reject(new Error('the API server is gone'))
      return Promise.resolve(rights.has(subresource))
    },
  }
  const authorize = createAuthorizer({ kind: 'Webhook', reviews }, silentLogger)
  const ask = (path: string) => authorize(jane, { method: 'GET', path }, signal)
  assert.equal(await ask('/pods'), undefined)
  assert.deepEqual(asked.splice(0), ['get pods', 'get proxy'])
  rights.clear()
  assert.deepEqual(await ask('/pods'), {
    status: 403,
    body: 'Forbidden (user=jane, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
  })
  assert.deepEqual(await ask('/stats/summary'), {
    status: 500,
    body: 'Authorization error (user=jane, verb=get, resource=nodes, subresource=stats)\n',
  })
})

test('createAuthorizer() without an API server lets in all, or those with a certificate', async () => {
  const request = { method: 'GET', path: '/pods' }
  const all = createAuthorizer({ kind: 'AlwaysAllow' }, silentLogger)
  assert.deepEqual([await all(jane, request, signal), await all(nobody, request, signal)], [undefined, undefined])
  const known = createAuthorizer({ kind: 'ClientCertificate' }, silentLogger)
  assert.equal(await known(jane, request, signal), undefined)
  assert.equal((await known(nobody, request, signal))?.status, 403)
})

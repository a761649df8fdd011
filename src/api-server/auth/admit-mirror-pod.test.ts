import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { Pod, PodSpec } from '../../model/generated/core-v1.ts'
import { ApiError } from '../api-error.ts'
import type { ApiObject } from '../store/api-object.ts'
import { admitMirrorPod } from './admit-mirror-pod.ts'

const node = { name: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }
const containers = [{ name: 'c', image: 'i' }]
const withSecret: PodSpec = { containers, imagePullSecrets: [{ name: 's' }] }

function mirrorOf(spec: PodSpec): ApiObject {
  const annotations = { 'kubernetes.io/config.mirror': 'h' }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', annotations }, spec }
}

function staticPod(spec: PodSpec, metadata: Pod['metadata'] = {}, source = 'file'): Pod {
  const annotations = { 'kubernetes.io/config.source': source, 'kubernetes.io/config.hash': 'h' }
  return { metadata: { name: 'p', namespace: 'n', annotations, ...metadata }, spec }
}

/** What is said against a mirror pod; undefined when nothing is. */
async function judge(
  spec: PodSpec,
  known: readonly Pod[] | undefined,
  { user = node, storage = 'pods' } = {},
): Promise<string | undefined> {
  const staticPods = known === undefined ? undefined : () => Promise.resolve(known)
  const deps = { staticPods, clock: new FakeClock() }
  try {
    await admitMirrorPod(user, { storage }, mirrorOf(spec), deps, new AbortController().signal)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status.code, 403)
    return error.message
  }
}

const account: PodSpec = { containers, serviceAccountName: 'a' }
const volume = (source: object): PodSpec => ({ containers, volumes: [{ name: 'v', ...source }] })
const claim = volume({ persistentVolumeClaim: { claimName: 'c' } })
const token = volume({ projected: { sources: [{ secret: { name: 's' } }] } })

describe('admitMirrorPod()', () => {
  const rows: readonly (readonly [name: string, fault: Promise<string | undefined>, expected: RegExp | undefined])[] = [
    ['one that refers to nothing', judge({ containers }, undefined), undefined],
    ['a secret, as in a cluster', judge(withSecret, undefined), /node "node-1" may not .* "spec.imagePullSecrets"$/],
    ['an account, as in a cluster', judge(account, undefined), /"spec.serviceAccountName"$/],
    ['a secret that the static pod has too', judge(withSecret, [staticPod(withSecret)]), undefined],
    ['a secret of no static pod', judge(withSecret, []), /no such static pod/],
    ['the name of another', judge(withSecret, [staticPod(withSecret, { name: 'q' })]), /no such static pod/],
    ['the namespace of another', judge(withSecret, [staticPod(withSecret, { namespace: 'm' })]), /no such static pod/],
    ['an older version', judge(withSecret, [staticPod(withSecret, { annotations: {} })]), /no such static pod/],
    ['a pod of the API', judge(withSecret, [staticPod(withSecret, {}, 'api')]), /no such static pod/],
    ['a secret more', judge(withSecret, [staticPod({ containers })]), /refers to less/],
    ['an account more', judge(account, [staticPod({ containers })]), /refers to less/],
    ['a claim more', judge(claim, [staticPod({ containers })]), /refers to less/],
    ['a secret in another place of the static pod', judge(token, [staticPod(withSecret)]), undefined],
    ['others than nodes', judge(withSecret, [], { user: { name: 'jane', groups: [] } }), undefined],
    ['objects that are no pods', judge(withSecret, [], { storage: 'secrets' }), undefined],
  ]
  for (const [name, fault, expected] of rows) {
    test(name, async () => {
      if (expected === undefined) assert.equal(await fault, undefined)
      else assert.match((await fault) ?? '', expected)
    })
  }

  test('waits a moment for the agent, and no longer', async () => {
    const clock = new FakeClock()
    const deps = { staticPods: () => new Promise<never>(() => {}), clock }
    const asked = admitMirrorPod(node, { storage: 'pods' }, mirrorOf(withSecret), deps, new AbortController().signal)
    const rejected = assert.rejects(asked, (error: ApiError) => error.status.code === 503)
    await clock.advance(5000)
    await rejected
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KubeApiError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import { createDynamicResourcesApi } from './dynamic-resources-api.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

const never = new AbortController().signal

function create(failure?: Error) {
  const sent: KubeRequest[] = []
  const client = {
    async send<T>(request: KubeRequest): Promise<T> {
      sent.push(request)
      if (failure !== undefined) throw failure
      return {} as T
    },
  }
  let registered = true
  const api = createDynamicResourcesApi({
    client,
    nodeName: 'node-1',
    isRegistered: () => registered,
    apiReturn: new ApiReturn(),
  })
  return { api, sent, leave: () => void (registered = false) }
}

describe('createDynamicResourcesApi()', () => {
  test('reads a claim by its name', async () => {
    const { api, sent } = create()
    await api.readClaim({ namespace: 'shop', name: 'gpu' }, never)
    const path = '/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims/gpu'
    assert.deepEqual(sent, [{ method: 'GET', path, timeoutMs: 10_000 }])
  })

  test('deletes the slices of this node, of one driver or of all', async () => {
    const { api, sent } = create()
    await api.deleteSlices(undefined, never)
    await api.deleteSlices('a.example', never)
    assert.deepEqual(
      sent.map(({ method, path, query }) => `${method} ${path} ${query?.['fieldSelector']}`),
      [
        'DELETE /apis/resource.k8s.io/v1/resourceslices spec.nodeName=node-1',
        'DELETE /apis/resource.k8s.io/v1/resourceslices spec.nodeName=node-1,spec.driver=a.example',
      ],
    )
  })

  test('a cluster without such objects has none to delete; any other refusal is a failure', async () => {
    await create(new KubeApiError('no', { code: 404, reason: 'NotFound' })).api.deleteSlices(undefined, never)
    const forbidden = create(new KubeApiError('no', { code: 403, reason: 'Forbidden' }))
    await assert.rejects(forbidden.api.deleteSlices(undefined, never), KubeApiError)
  })

  test('touches nothing before the node is registered', async () => {
    const { api, sent, leave } = create()
    leave()
    await assert.rejects(api.deleteSlices(undefined, never), /it is not registered/)
    assert.deepEqual(sent, [])
  })
})

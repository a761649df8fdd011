import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CriCallError } from './cri-call-error.ts'
import { listByPod } from './list-by-pod.ts'
import type { PodFilter } from './list-by-pod.ts'

const tooLarge = new CriCallError('listContainerStats', 'ResourceExhausted', 'message larger than max')

describe('listByPod()', () => {
  test('asks once for a list that can be sent', async () => {
    const asked: (PodFilter | undefined)[] = []
    const list = async (filter: PodFilter | undefined) => (asked.push(filter), ['a', 'b'])
    assert.deepEqual(await listByPod(['u-1'], list), ['a', 'b'])
    assert.deepEqual(asked, [undefined])
  })

  test('asks for pod after pod where the list is too large', async () => {
    const list = async (filter: PodFilter | undefined) => {
      if (filter === undefined) throw tooLarge
      return [filter.labelSelector['io.kubernetes.pod.uid']]
    }
    assert.deepEqual(await listByPod(['u-1', 'u-2'], list), ['u-1', 'u-2'])
  })

  test('passes other failures on', async () => {
    const away = new CriCallError('listContainerStats', 'Unavailable', 'no connection')
    await assert.rejects(
      listByPod(['u-1'], async () => {
        throw away
      }),
      away,
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPodDeps, failing } from '../../../../test/component/create-pod-deps.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { removeContainer } from './remove-container.ts'

const never = new AbortController().signal
const container = { uid: parsePodUid('u-1'), id: 'c-1' }

describe('removeContainer()', () => {
  test('does not mind what is gone already', async () => {
    const { deps, journal } = await createPodDeps({}, { removeContainer: failing('NotFound') })
    await removeContainer(deps, container, never)
    assert.deepEqual(journal, ['removeContainer c-1'])
  })

  test('ends what the runtime has left running of a start that it broke off, and tries once more', async () => {
    let tries = 0
    const fail = failing('FailedPrecondition', 'cannot delete running task')
    const removal = () => ((tries += 1) === 1 ? fail() : Promise.resolve({}))
    const { deps, journal, clock } = await createPodDeps({}, { removeContainer: removal })
    const removed = removeContainer(deps, container, never)
    await clock.advance(1000)
    await removed
    const remedies = ['killContainer u-1 c-1', 'containerdDeleteTask c-1']
    assert.deepEqual(journal, ['removeContainer c-1', ...remedies, 'removeContainer c-1'])
  })

  test('goes on with a runtime that has no tasks of its own', async () => {
    let tries = 0
    const fail = failing('FailedPrecondition', 'busy')
    const removeContainerOnce = () => ((tries += 1) === 1 ? fail() : Promise.resolve({}))
    const answers = { removeContainer: removeContainerOnce, containerdDeleteTask: failing('Unimplemented') }
    const { deps, clock } = await createPodDeps({}, answers)
    const removed = removeContainer(deps, container, never)
    await clock.advance(1000)
    await removed
    assert.equal(tries, 2)
  })

  test('fails when that was no help', async () => {
    const { deps, clock } = await createPodDeps({}, { removeContainer: failing('FailedPrecondition', 'task') })
    const removed = assert.rejects(removeContainer(deps, container, never), /task/)
    await clock.advance(1000)
    await removed
  })

  test('kills nothing for another reason', async () => {
    const { deps, journal } = await createPodDeps({}, { removeContainer: failing('Unknown', 'busy') })
    await assert.rejects(removeContainer(deps, container, never), /busy/)
    assert.deepEqual(journal, ['removeContainer c-1'])
  })
})

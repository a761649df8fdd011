import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { TaskGroup } from './task-group.ts'

const never = new AbortController().signal

/** Runs until its signal aborts, then fails with the reason, as well-behaved work does. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe('TaskGroup', () => {
  test('joins when all tasks are over, also those that others began', async () => {
    const group = new TaskGroup(never)
    const done: string[] = []
    group.run('outer', async () => {
      await setImmediate()
      group.run('inner', async () => {
        await setImmediate()
        done.push('inner')
      })
      done.push('outer')
    })
    assert.equal(group.size, 1)
    await group.join()
    assert.deepEqual([done, group.size], [['outer', 'inner'], 0])
  })

  test('ends all tasks when one fails, and throws what failed', async () => {
    const group = new TaskGroup(never)
    group.run('waits', untilAborted)
    group.run('breaks', async () => {
      throw new Error('no')
    })
    await assert.rejects(
      group.join(),
      (error: Error) => error.message === 'Task "breaks" failed' && (error.cause as Error).message === 'no',
    )
  })

  test('hears a task that fails before it waits for anything', async () => {
    const group = new TaskGroup(never)
    group.run('breaks', () => {
      throw new Error('at once')
    })
    await assert.rejects(group.join(), /breaks/)
  })

  test('throws all failures when there are several', async () => {
    const group = new TaskGroup(never)
    for (const name of ['a', 'b'])
      group.run(name, async () => {
        throw new Error(name)
      })
    await assert.rejects(group.join(), (error: Error) => error instanceof AggregateError && error.errors.length === 2)
  })

  test('ends in peace with its parent', async () => {
    const parent = new AbortController()
    const group = new TaskGroup(parent.signal)
    group.run('waits', untilAborted)
    const reason = new Error('leave')
    parent.abort(reason)
    await group.join()
    assert.equal(group.signal.reason, reason)
  })

  test('is over from the start when its parent is', async () => {
    const reason = new Error('over')
    const group = new TaskGroup(AbortSignal.abort(reason))
    let given: unknown
    group.run('late', async (signal) => {
      given = signal.reason
      signal.throwIfAborted()
    })
    await group.join()
    assert.equal(given, reason)
  })

  test('reports a failure on the way out that is not the reason to leave', async () => {
    const parent = new AbortController()
    const group = new TaskGroup(parent.signal)
    group.run('breaks', (signal) => untilAborted(signal).catch(() => Promise.reject(new Error('could not save'))))
    parent.abort(new Error('leave'))
    await assert.rejects(group.join(), (error: Error) => (error.cause as Error).message === 'could not save')
  })

  test('throws a failure as it is from a block that joins', async () => {
    const run = async () => {
      await using group = new TaskGroup(never)
      group.run('breaks', () => Promise.reject(new Error('no')))
      await group.join()
    }
    await assert.rejects(run, { name: 'Error', message: 'Task "breaks" failed' })
  })

  test('throws a failure from a block that does not join', async () => {
    const run = async () => {
      await using group = new TaskGroup(never)
      group.run('breaks', () => Promise.reject(new Error('no')))
    }
    await assert.rejects(run, { name: 'Error', message: 'Task "breaks" failed' })
  })

  test('ends what still runs when its block ends, and leaves nothing on its parent', async () => {
    const parent = new AbortController()
    let ended = false
    {
      await using group = new TaskGroup(parent.signal)
      group.run('waits', (signal) => untilAborted(signal).finally(() => (ended = true)))
      assert.equal(getEventListeners(parent.signal, 'abort').length, 1)
    }
    assert.equal(ended, true)
    assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
  })
})

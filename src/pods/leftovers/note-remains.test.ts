import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePodUid } from '../../model/pod/pod.ts'
import { noteRemains } from './note-remains.ts'

test('noteRemains() gives the user namespace back before files go, and notes what stays, with how to try again', async () => {
  const uid = parsePodUid('u-1')
  const done: string[] = []
  const removals: (() => Promise<unknown>)[] = []
  const remove = (what: string) => async (name: string) => {
    done.push(`${what} ${name}`)
    return { directory: name, left: [] }
  }
  const files = noteRemains(
    { removePod: remove('pod'), removeLogDirectory: remove('logs') },
    {
      remains: {
        note: ({ directory }, { retry }) => {
          done.push(`noted ${directory}`)
          removals.push(retry)
        },
      },
      userNamespaces: { release: async () => done.push('released') },
    },
  )
  await files.removePod(uid, '/logs/a')
  const expected = ['released', 'pod u-1', 'noted u-1', 'logs /logs/a', 'noted /logs/a']
  assert.deepEqual(done, expected)
  for (const retry of removals) await retry()
  assert.deepEqual(done.slice(expected.length), ['pod u-1', 'logs /logs/a'])
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { bindVolumePart } from './bind-volume-part.ts'
import type { BindPartDeps } from './bind-volume-part.ts'

const part = { volumeName: 'data', root: '/secret/root', path: 'a/b', target: '/subpaths/data/main/0' }

function bind(guarded: Partial<BindPartDeps['guarded']>) {
  const journal: string[] = []
  const deps: BindPartDeps = {
    guarded: {
      makeSubPath: async ({ path }) => void journal.push(`make ${path}`),
      bindSubPath: async ({ path, target }) => void journal.push(`bind ${path} ${target}`),
      ...guarded,
    },
    folders: { makeFolder: async (path) => void journal.push(`folder ${path}`) },
    log: { ...silentLogger, warn: (_, fields) => void journal.push(`logged ${String(fields?.['error'])}`) },
  }
  const noteStep = async <T>(name: string, work: () => Promise<T>) => {
    journal.push(name)
    return await work()
  }
  const request = { pod: createPod(), container: { name: 'main' }, part, noteStep }
  return { journal, result: bindVolumePart(deps, request, new AbortController().signal) }
}

describe('bindVolumePart()', () => {
  test('binds what is there and makes what is not', async () => {
    const { journal, result } = bind({})
    await result
    assert.deepEqual(journal, [
      'bind part of volume "data" for container "main"',
      'folder /subpaths/data/main',
      'bind a/b /subpaths/data/main/0',
    ])
    let tries = 0
    const missing = bind({
      bindSubPath: async () => {
        tries += 1
        if (tries === 1) throw Object.assign(new Error('no'), { code: 'ENOENT' })
      },
    })
    await missing.result
    assert.deepEqual([missing.journal.includes('make a/b'), tries], [true, 2])
  })

  test('shows users no path of the node', async () => {
    const enoent = async () => {
      throw Object.assign(new Error('ENOENT: /secret/root'), { code: 'ENOENT' })
    }
    const eloop = async () => {
      throw Object.assign(new Error('ELOOP: /secret/root'), { code: 'ELOOP' })
    }
    const rows = [
      [{ bindSubPath: eloop }, 'failed to prepare subPath for volumeMount "data" of container "main"'],
      [{ bindSubPath: enoent }, 'failed to prepare subPath for volumeMount "data" of container "main"'],
      [
        { bindSubPath: enoent, makeSubPath: eloop },
        'failed to create subPath directory for volumeMount "data" of container "main"',
      ],
    ] as const
    for (const [files, message] of rows)
      await assert.rejects(bind(files).result, { name: 'ContainerConfigError', message })
    const { journal, result } = bind({ bindSubPath: eloop })
    await result.catch(() => {})
    assert.equal(journal.at(-1), 'logged Error: ELOOP: /secret/root')
  })
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { checkPrograms, checkRuntime, chooseRuntime, findOciRuntime } from './check-requirements.ts'

const NOWHERE = `unix://${join(makeTemporaryFolder(), 'docker.sock')}`

/** A PATH on which these programs are found. */
async function installed(...names: readonly string[]): Promise<string> {
  const folder = makeTemporaryFolder()
  for (const name of names) {
    await writeFile(join(folder, name), '')
    await chmod(join(folder, name), 0o755)
  }
  return folder
}

async function listen(t: TestContext): Promise<string> {
  const path = join(makeTemporaryFolder(), 'docker.sock')
  const server = createServer((socket) => socket.end()).listen(path)
  await once(server, 'listening')
  t.after(() => server.close())
  return `unix://${path}`
}

describe('the runtime that "auto" stands for', () => {
  test('is a containerd of our own where containerd is installed, also beside Docker', async (t) => {
    assert.equal(await chooseRuntime(await installed('containerd'), await listen(t)), undefined)
  })

  test('is Docker where there is no containerd', async (t) => {
    const docker = await listen(t)
    assert.equal(await chooseRuntime(await installed(), docker), docker)
  })

  test('is none where there is neither', async () => {
    const expected = `Cannot choose a runtime: containerd is not installed, and Docker does not answer at "${NOWHERE}"`
    await assert.rejects(chooseRuntime(await installed(), NOWHERE), { message: expected })
  })
})

describe('a machine without containerd', () => {
  test('gets no Docker unasked, only its name', async (t) => {
    const message =
      /^Cannot run a private runtime: .*containerd.*; or use the Docker of this machine: --runtime docker$/
    await assert.rejects(checkPrograms(await installed(), undefined, await listen(t)), { message })
  })

  test('hears nothing of a Docker that is not there', async () => {
    await assert.rejects(checkPrograms(await installed(), undefined, NOWHERE), (error: Error) => {
      assert.doesNotMatch(error.message, /--runtime docker/)
      return true
    })
  })
})

test('a runtime that was named and does not answer is not used', async (t) => {
  await checkRuntime(await listen(t))
  await assert.rejects(
    checkRuntime(NOWHERE),
    /^NodeError: Cannot use the runtime "unix:.*": nothing listens there; start it/,
  )
})

describe('what runs containers where nothing is named', () => {
  for (const [programs, controllers, expected] of [
    [['runc', 'crun'], undefined, 'crun'],
    [['runc', 'crun'], '', 'crun'],
    // crun would refuse each container there.
    [['runc', 'crun'], 'hugetlb misc\n', 'runc'],
    [['crun'], 'hugetlb\n', 'crun'],
    [['runc'], undefined, 'runc'],
    [[], undefined, 'runc'],
  ] as const) {
    test(`${expected} with ${programs.join(' and ') || 'nothing'}, controllers beside cgroup v1: ${controllers?.trim() ?? 'no such file'}`, async () => {
      const file = join(makeTemporaryFolder(), 'cgroup.controllers')
      if (controllers !== undefined) await writeFile(file, controllers)
      assert.equal(await findOciRuntime(await installed(...programs), file), expected)
    })
  }
})

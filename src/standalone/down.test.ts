import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../base/async/clock.ts'
import { runDown } from './down.ts'
import { rememberProcess } from './node/known-process.ts'
import { computeNodeLayout } from './node/node-layout.ts'

const deps = {
  clock: systemClock,
  say: () => {},
  ownKubelet: [],
  pid: 1,
  programPath: '',
  userId: 0,
  openRuntime: () => assert.fail('there is none'),
}

test('runDown() says what to do about a node whose files were removed while it runs', async () => {
  const state = makeTemporaryFolder()
  const { upIdentity } = computeNodeLayout(state)
  await rememberProcess(upIdentity, process.pid, upIdentity)
  await assert.rejects(
    runDown(deps, { state, purge: true }, new AbortController().signal),
    new RegExp(`has lost files of the node that runs from it: end its "deckhand up" \\(kill ${process.pid}\\), then`),
  )
})

test('runDown() says at once that the runtime of the user is away, which alone can stop its pods', async () => {
  const state = makeTemporaryFolder()
  const layout = computeNodeLayout(state)
  const runtime = `unix://${state}/docker.sock`
  const ports = { kubernetes: 1, agent: 2, healthz: 3 }
  const record = { nodeName: 'n', cgroupRoot: '/deckhand-none', manifests: `${state}/manifests`, runtime, ports }
  await writeFile(layout.record, JSON.stringify(record))
  await mkdir(`${layout.podLogs}/default_web_u`, { recursive: true })
  await assert.rejects(
    runDown(deps, { state, purge: false }, new AbortController().signal),
    new RegExp(`Cannot stop the pods: their runtime is away, nothing listens at "${runtime}"; start it and run`),
  )
  await rm(layout.podLogs, { recursive: true })
  await runDown(deps, { state, purge: false }, new AbortController().signal)
})

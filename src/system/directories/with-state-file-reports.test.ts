import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCsiNode } from '../../../test/fakes/fake-csi-node.ts'
import { FakeJournalFiles } from '../../../test/fakes/fake-journal-files.ts'
import { FakePodFiles } from '../../../test/component/fake-pod-files.ts'
import { FakeStateFile } from '../../../test/fakes/fake-state-file.ts'
import { FakeUserNamespaceRecords } from '../../../test/fakes/fake-user-namespace-records.ts'
import { createLastGoodManifests } from './last-good-manifests.ts'
import { createSetCredentialsAside, withStateFileReports } from './with-state-file-reports.ts'

/** Takes what is counted and what administrators get to know. */
function createReports(reported: string[]) {
  return {
    metrics: { stateSetAside: (kind: string) => void reported.push(kind) },
    events: {
      record: ({ type, reason, message }: { type: string; reason: string; message: string }) =>
        void reported.push(`${type} ${reason} ${message}`),
    },
  }
}

function setUp() {
  const clock = new FakeClock()
  const reported: string[] = []
  const node = new FakeCsiNode()
  const records = new FakeJournalFiles()
  const files = new FakePodFiles('/r')
  const reports = createReports(reported)
  const host = withStateFileReports(
    {
      stateFile: (path) => new FakeStateFile(path),
      recordFolder: () => records,
      lastGoodManifests: createLastGoodManifests,
      podFiles: () => files.calls,
      csiFiles: () => node.csiFiles,
      userNamespaceRecords: () => new FakeUserNamespaceRecords(),
    },
    { ...reports, clock },
    new AbortController().signal,
  )
  return { clock, host, records, files, reported }
}

for (const [kind, path, act] of [
  ['state', '/r/cpu_manager_state', (host) => host.stateFile('/r/cpu_manager_state').setAside()],
  ['record', '/r/image_manager/pulled/a', (host) => host.recordFolder('/r/image_manager/pulled').setAside('a')],
  ['volume', '/r/csi/d/vol_data.json', (host) => host.csiFiles('/r').setAsideData('/r/csi/d')],
  ['pod', '/r/pods/u/userns', (host) => host.userNamespaceRecords('/r').setAside('u')],
] as const satisfies readonly (readonly [
  string,
  string,
  (host: ReturnType<typeof setUp>['host']) => Promise<unknown>,
])[])
  test(`withStateFileReports() reports that ${path} was set aside`, async () => {
    const { host, reported } = setUp()
    await act(host)
    const message = `Cannot use "${path}": the agent goes on without it, the file was set aside`
    assert.deepEqual(reported, [kind, `Warning StateFileSetAside ${message}`])
  })

test('withStateFileReports() reads the note of a pod again that cannot be read for the moment', async () => {
  const { clock, host, files } = setUp()
  files.files.set('/r/pods/u-1/probes.json', 'text')
  const { read } = files.probeNotes
  let tries = 0
  files.probeNotes.read = async (uid) => {
    tries += 1
    if (tries === 1) throw Object.assign(new Error('ENFILE'), { code: 'ENFILE' })
    return await read(uid)
  }
  const reading = host.podFiles('/r').probeNotes.read('u-1')
  await clock.advance(100)
  assert.deepEqual([await reading, tries], ['text', 2])
})

test('withStateFileReports() reports a copy of a manifest that cannot be read', async () => {
  const { host, reported } = setUp()
  const folder = makeTemporaryFolder()
  await host.lastGoodManifests(folder).write('web.yaml', Buffer.from('text'))
  const [copy = ''] = readdirSync(folder)
  const away = makeTemporaryFolder()
  mkdirSync(join(away, copy))
  assert.equal(await host.lastGoodManifests(away).read('web.yaml'), undefined)
  const message = `Cannot use "${join(away, copy)}": the agent goes on without it, the file was set aside`
  assert.deepEqual(reported, ['manifest', `Warning StateFileSetAside ${message}`])
})

test('createSetCredentialsAside() reports what it sets aside, also when it cannot be', async () => {
  const reported: string[] = []
  const setAside = createSetCredentialsAside(createReports(reported))
  const folder = makeTemporaryFolder()
  const paths = ['a.crt', 'a.key'].map((name) => join(folder, name))
  for (const path of paths) writeFileSync(path, 'broken')
  await setAside(paths, '.broken-7')
  assert.deepEqual(readdirSync(folder).toSorted(), ['a.crt.broken-7', 'a.key.broken-7'])
  const what = `Cannot use "${paths.join('" and "')}": the agent goes on without it`
  assert.deepEqual(reported.splice(0), ['credential', `Warning StateFileSetAside ${what}, the file was set aside`])
  writeFileSync(join(folder, 'b'), '')
  mkdirSync(join(folder, 'b.broken-7'))
  await assert.rejects(setAside([join(folder, 'b')], '.broken-7'), { code: 'EISDIR' })
  assert.match(reported.join(), /^credential,Warning .*the file cannot be set aside: EISDIR/)
})

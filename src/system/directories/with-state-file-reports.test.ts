import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeCsiNode } from '../../../test/fakes/fake-csi-node.ts'
import { FakeJournalFiles } from '../../../test/fakes/fake-journal-files.ts'
import { FakePodFiles } from '../../../test/component/fake-pod-files.ts'
import { FakeStateFile } from '../../../test/fakes/fake-state-file.ts'
import { FakeUserNamespaceRecords } from '../../../test/fakes/fake-user-namespace-records.ts'
import { withStateFileReports } from './with-state-file-reports.ts'

function setUp() {
  const clock = new FakeClock()
  const reported: string[] = []
  const node = new FakeCsiNode()
  const records = new FakeJournalFiles()
  const files = new FakePodFiles('/r')
  const host = withStateFileReports(
    {
      stateFile: (path) => new FakeStateFile(path),
      recordFolder: () => records,
      podFiles: () => files.calls,
      csiFiles: () => node.csiFiles,
      userNamespaceRecords: () => new FakeUserNamespaceRecords(),
    },
    {
      metrics: { stateSetAside: (kind) => void reported.push(kind) },
      events: { record: ({ type, reason, message }) => void reported.push(`${type} ${reason} ${message}`) },
      clock,
    },
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

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeStatsWorld } from '../../../test/fakes/fake-stats-world.ts'
import { loadSettings } from '../../../test/fakes/load-settings.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import { ListPodSandboxStatsResponse } from '../../protocols/cri/generated/runtime-v1.ts'
import type { MachineInfo } from '../../system/machine/read-machine.ts'
import { createStatsEngine } from './create-stats-engine.ts'
import { computeSummary } from './reports/compute-summary.ts'

const { signal } = new AbortController()
const AT = 1_767_225_600_000_000_000n
// No cgroup of the recorded tree has so many.
const BYTES_BY_RUNTIME = 4242

/** The engine as the agent makes it, on a node whose images and containers have disks of their own. */
async function setUp(gate: string) {
  const world = new FakeStatsWorld(2)
  const { deps } = world
  const [pod] = world.pods
  assert.ok(pod)
  const linux = { memory: { timestamp: AT, workingSetBytes: { value: BigInt(BYTES_BY_RUNTIME) } }, containers: [] }
  const calls: Partial<CriClient> = {
    ...(deps.calls as Partial<CriClient>),
    imageFsInfo: async () => ({
      imageFilesystems: [{ timestamp: 1n, fsId: { mountpoint: '/images' } }],
      containerFilesystems: [{ timestamp: 1n, fsId: { mountpoint: '/containers' } }],
    }),
    listPodSandboxStats: async () =>
      ListPodSandboxStatsResponse.fromPartial({
        stats: [{ attributes: { id: pod.sandboxes[0]?.id ?? '' }, linux }],
      }),
  }
  const fileSystem = async (path: string) => ({ ...(await deps.files.fileSystem(path)), device: path })
  const engine = createStatsEngine(
    {
      ...deps,
      settings: await loadSettings([`--feature-gates=${gate}`]),
      machine: deps.machine as MachineInfo,
      terminationLogs: undefined,
      host: { statsFiles: { ...deps.files, fileSystem }, cgroupReader: () => deps.cgroups },
      runtime: { calls: calls as CriClient, observer: deps.observed, cgroups: deps.layout },
    },
    signal,
  )
  return { engine, world }
}

describe('createStatsEngine()', () => {
  for (const isOn of [true, false])
    test(`KubeletSeparateDiskGC=${isOn}: the disk of containers is measured apart, or is said not to be`, async () => {
      const { engine, world } = await setUp(`KubeletSeparateDiskGC=${isOn}`)
      for (let time = 0; time < 2; time += 1) {
        const { node } = await engine.ask(['fileSystems'], signal, -1)
        assert.equal(node.containerFs?.device, isOn ? '/containers' : undefined)
      }
      const said = 'KubeletSeparateDiskGC is turned off but we still have a split filesystem'
      assert.deepEqual(world.warnings, isOn ? [] : [said])
    })

  for (const isOn of [true, false])
    test(`PodAndContainerStatsFromCRI=${isOn}: pods use what ${isOn ? 'the runtime' : 'their cgroups'} say`, async () => {
      const { engine } = await setUp(`PodAndContainerStatsFromCRI=${isOn}`)
      const { pods } = computeSummary(await engine.ask(['usage'], signal, 0), {
        nodeName: 'n',
        onlyCpuAndMemory: false,
      })
      const bytes = pods[0]?.memory?.workingSetBytes
      assert.ok(bytes !== undefined)
      assert.equal(bytes === BYTES_BY_RUNTIME, isOn, `${bytes} bytes`)
    })
})

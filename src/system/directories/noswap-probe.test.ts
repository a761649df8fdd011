import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createNoswapProbe } from './noswap-probe.ts'

const { signal } = new AbortController()

function createMachine(
  kernel: { release: string; inUserNamespace: boolean },
  options: { swap: boolean; mounts: boolean },
) {
  const done: string[] = []
  const probe = createNoswapProbe({
    mounter: {
      async mount({ options: mountOptions, target }) {
        done.push(`mount ${mountOptions.join(',')} on ${target}`)
        if (!options.mounts) throw new Error('bad option')
      },
      async unmount(target) {
        done.push(`unmount ${target}`)
      },
    },
    volumeFiles: {
      async makeDirectory(path) {
        done.push(`make ${path}`)
        return true
      },
      async removeDirectory(path) {
        done.push(`remove ${path}`)
      },
    },
    directory: '/probe',
    swapIsOn: options.swap,
    events: { record: ({ reason }) => done.push(reason) },
    readKernel: async () => kernel,
  })
  return { probe, done }
}

describe('createNoswapProbe()', () => {
  const trial = ['make /probe', 'mount noswap on /probe', 'unmount /probe', 'remove /probe']
  const warning = 'PossibleMemoryBackedVolumesOnDisk'
  const rows = [
    { release: '6.4.0', inUserNamespace: false, swap: true, mounts: false, supported: true, done: [] },
    { release: '7.0', inUserNamespace: false, swap: true, mounts: false, supported: true, done: [] },
    { release: '6.1.0-18-amd64', inUserNamespace: false, swap: true, mounts: true, supported: true, done: trial },
    { release: '6.3.9', inUserNamespace: false, swap: false, mounts: false, supported: false, done: trial },
    {
      release: '5.10.1',
      inUserNamespace: false,
      swap: true,
      mounts: false,
      supported: false,
      done: [...trial, warning],
    },
    { release: '6.18.0', inUserNamespace: true, swap: true, mounts: true, supported: false, done: [warning] },
    { release: '6.18.0', inUserNamespace: true, swap: false, mounts: true, supported: false, done: [] },
  ]
  for (const { supported, done, ...row } of rows)
    test(JSON.stringify(row), async () => {
      const machine = createMachine(row, row)
      assert.equal(await machine.probe.supported(signal), supported)
      assert.equal(await machine.probe.supported(signal), supported)
      assert.deepEqual(machine.done, done)
    })

  test('an abort in the middle leaves the question open', async () => {
    const { probe, done } = createMachine({ release: '5.4', inUserNamespace: false }, { swap: false, mounts: true })
    await assert.rejects(probe.supported(AbortSignal.abort(new Error('enough'))), /enough/)
    assert.equal(await probe.supported(signal), true)
    assert.deepEqual(done.slice(-4), trial)
  })
})

import { FakeCri } from '../fakes/fake-cri.ts'
import type { FakeCriOptions } from '../fakes/fake-cri.ts'
import { fakeProgramOf } from './contract-programs.ts'
import { describeContract } from './run-contract.ts'
import type { RuntimeUnderTest } from './containerd-under-test.ts'

const IMAGE = 'localhost/deckhand/busybox:1'

async function startFake(): Promise<RuntimeUnderTest> {
  const options: FakeCriOptions = {
    images: [IMAGE],
    writeLogs: true,
    programOf: ({ command }) => fakeProgramOf(command),
    onExec: (_, [program]) => {
      if (program === 'sleep') return 'hang'
      return program === 'sh' ? { stdout: 'out\n', stderr: 'err\n', exitCode: 4 } : {}
    },
  }
  const fake = await FakeCri.start(options)
  return {
    endpoint: fake.endpoint,
    image: IMAGE,
    cgroupParent: '/contract',
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  }
}

describeContract('FakeCri', startFake)

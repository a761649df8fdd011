import { startContainerdUnderTest } from './containerd-under-test.ts'
import { describeContract } from './run-contract.ts'

describeContract('containerd', startContainerdUnderTest)

import { startDockerUnderTest } from './docker-under-test.ts'
import { describeContract } from './run-contract.ts'

describeContract('Docker', startDockerUnderTest)

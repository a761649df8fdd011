import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadFields, problemsOf } from '../../../../test/fakes/load-settings.ts'

const STATIC = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }
const ALPHA = { featureGates: { CPUManagerPolicyAlphaOptions: true } }
const OPTIONS = 'cpuManagerPolicyOptions'

const rows: readonly { name: string; fields: object; expected: readonly string[] }[] = [
  {
    name: 'the static policy needs reserved CPUs',
    fields: { cpuManagerPolicy: 'static', systemReserved: { memory: '1Gi' }, kubeReserved: { cpu: '0' } },
    expected: [
      'cpuManagerPolicy: expected CPUs to be reserved, by cpu in systemReserved or kubeReserved, or by reservedSystemCPUs',
    ],
  },
  { name: 'by amount', fields: { cpuManagerPolicy: 'static', kubeReserved: { cpu: '100m' } }, expected: [] },
  { name: 'or by name', fields: STATIC, expected: [] },
  {
    name: 'options need the static policy',
    fields: { [OPTIONS]: { 'full-pcpus-only': 'true' } },
    expected: [`${OPTIONS}: expected none, because cpuManagerPolicy is none`],
  },
  {
    name: 'the stable and beta options go together, but for one pair',
    fields: {
      ...STATIC,
      [OPTIONS]: {
        'full-pcpus-only': 'true',
        'strict-cpu-reservation': 'true',
        'prefer-align-cpus-by-uncorecache': 'true',
        'distribute-cpus-across-numa': '1',
      },
    },
    expected: [
      `${OPTIONS}[prefer-align-cpus-by-uncorecache]: expected false, because distribute-cpus-across-numa is on`,
    ],
  },
  {
    name: 'what spreads over cores goes with nothing that does not',
    fields: {
      ...STATIC,
      ...ALPHA,
      [OPTIONS]: {
        'full-pcpus-only': 'true',
        'prefer-align-cpus-by-uncorecache': 'true',
        'distribute-cpus-across-numa': 'false',
        'distribute-cpus-across-cores': 'true',
        'align-by-socket': 'true',
      },
    },
    expected: [
      `${OPTIONS}[full-pcpus-only]: expected false, because distribute-cpus-across-cores is on`,
      `${OPTIONS}[prefer-align-cpus-by-uncorecache]: expected false, because distribute-cpus-across-cores is on`,
    ],
  },
  {
    name: 'sockets instead of NUMA nodes are nothing for a policy of one node',
    fields: {
      ...STATIC,
      ...ALPHA,
      [OPTIONS]: { 'align-by-socket': 'true' },
      topologyManagerPolicy: 'single-numa-node',
    },
    expected: [`${OPTIONS}[align-by-socket]: expected false, because topologyManagerPolicy is single-numa-node`],
  },
  {
    name: 'and something for others',
    fields: { ...STATIC, ...ALPHA, [OPTIONS]: { 'align-by-socket': 'true' }, topologyManagerPolicy: 'restricted' },
    expected: [],
  },
  {
    name: 'the memory policy needs reserved memory',
    fields: {
      memoryManagerPolicy: 'Static',
      reservedMemory: [{ numaNode: 0, limits: { 'hugepages-2Mi': '2Mi' } }],
    },
    expected: ['memoryManagerPolicy: expected memory of NUMA nodes to be reserved by reservedMemory'],
  },
  {
    name: 'of any node',
    fields: {
      memoryManagerPolicy: 'Static',
      reservedMemory: [{ numaNode: 1, limits: { memory: '100Mi' } }],
      topologyManagerPolicy: 'best-effort',
      topologyManagerScope: 'pod',
      topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '8' },
    },
    expected: [],
  },
  {
    name: 'topology policies are made for eight nodes at least',
    fields: { topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '7' } },
    expected: ['topologyManagerPolicyOptions[max-allowable-numa-nodes]: expected a whole number of at least 8'],
  },
]

describe('findPlacementProblems()', () => {
  for (const { name, fields, expected } of rows) {
    test(name, async () => assert.deepEqual(await problemsOf(loadFields(fields)), expected))
  }
})

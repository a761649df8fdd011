import process from 'node:process'
import type { MetricSet } from '../base/telemetry/metric-set.ts'

const BUILD_LABELS = [
  'build_date',
  'compiler',
  'git_commit',
  'git_tree_state',
  'git_version',
  'go_version',
  'major',
  'minor',
  'platform',
] as const

/** Which version this is, and how many metrics it has. */
export function addBuildMetrics(set: MetricSet, version: string): void {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  set.read(
    { name: 'kubernetes_build_info', help: 'The version of the agent.', stability: 'BETA', labels: BUILD_LABELS },
    () => [
      {
        labels: {
          build_date: '',
          compiler: 'node',
          git_commit: '',
          git_tree_state: '',
          git_version: version,
          go_version: `node${process.version}`,
          major,
          minor,
          platform: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`,
        },
        value: 1,
      },
    ],
  )
  set.read(
    {
      name: 'version_info',
      help: 'The version of the agent and the one it behaves like.',
      labels: ['binary', 'component', 'emulation', 'min_compat'],
    },
    () => {
      const short = `${major}.${minor}`
      return [{ labels: { binary: short, component: 'kube', emulation: short, min_compat: short }, value: 1 }]
    },
  )
}

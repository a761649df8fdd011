import { deferMetrics } from '../metrics/defer-metrics.ts'
import { createCgroups } from '../node/cgroups/create-cgroups.ts'
import { createVolumeHost } from '../pods/volumes/create-volume-host.ts'
import { createCgroupReader } from '../system/cgroups/cgroup-reader.ts'
import { createLastGoodManifests } from '../system/directories/last-good-manifests.ts'
import { createCsiFiles } from '../system/directories/csi-files.ts'
import { createPodFiles } from '../system/directories/pod-files.ts'
import { checkWritable } from '../system/directories/check-writable.ts'
import { findSandboxProfile } from '../system/directories/sandbox-profile.ts'
import { prepareRoot } from '../system/directories/prepare-root.ts'
import { createUserNamespaceRecords } from '../system/directories/user-namespace-records.ts'
import { createStateFile } from '../system/files/state/create-state-file.ts'
import { readFileSystemSpace } from '../system/files/file-system-space.ts'
import { readIfPresent } from '../system/files/read-bounded-file.ts'
import { createRecordFolder } from '../system/files/state/create-record-folder.ts'
import { createGuardedFiles } from '../system/guarded/create-guarded-files.ts'
import { computeParallelStarts } from '../pods/sync/start/compute-parallel-starts.ts'
import { podNetwork } from '../pods/probes/pod-network.ts'
import { statsFiles } from '../system/directories/stats-files.ts'
import { openKernelLog } from '../system/machine/kernel-log.ts'
import { readBootTime } from '../system/machine/read-boot-time.ts'
import { readCpuPlaces } from '../system/machine/hardware/read-cpu-places.ts'
import { readHugepages } from '../system/machine/hardware/read-hugepages.ts'
import { readKernel } from '../system/machine/read-kernel.ts'
import { readNodeAddress } from '../system/machine/read-node-address.ts'
import { readNodeIdentity } from '../system/machine/read-node-identity.ts'
import { readNumaNodes } from '../system/machine/hardware/read-numa-nodes.ts'
import { readSubordinateIds } from '../system/machine/read-subordinate-ids.ts'
import { makeShared } from '../system/mounts/make-shared.ts'
import { findDeathSignal } from '../system/processes/find-death-signal.ts'
import { createMounter } from '../system/mounts/mounter.ts'
import { findShims } from '../system/processes/find-shims.ts'
import { signalProcess } from '../system/processes/process-identity.ts'
import { connectRuntime } from '../protocols/runtime/connect-runtime.ts'
import type { Edges, Host } from './edges.ts'
import { createLoneMembership } from './cluster/membership.ts'
import type { KubeletDeps } from './open-base.ts'

type MachineDeps = Omit<KubeletDeps, keyof Edges>

/** The real thing: this machine, its runtime, and the cluster of the kubeconfig file. */
export function createEdges(deps: MachineDeps): Edges {
  const { settings, objects, clock, log } = deps
  const metrics = deferMetrics()
  return {
    host: createHost(deps),
    metrics,
    connectRuntime,
    async openTracing() {
      const { tracing } = settings.config
      if (tracing === undefined) return undefined
      // Loaded only where traces are configured.
      const { createTracing } = await import('../protocols/tracing/create-tracing.ts')
      const attributes = { 'service.name': 'kubelet', 'host.name': settings.nodeName }
      return createTracing({ ...tracing, attributes, version: settings.version, metrics, clock, log })
    },
    async join(tracer, tasks) {
      const { nodeName } = settings
      if (settings.withoutApi)
        return { cluster: undefined, membership: createLoneMembership({ objects, nodeName, log }) }
      // Loaded only where there is a cluster.
      const { joinCluster, toClusterMetrics } = await import('./cluster/join-cluster.ts')
      const cluster = await joinCluster({ ...deps, tracer, metrics: toClusterMetrics(metrics) }, tasks)
      return { cluster, membership: cluster.membership }
    },
  }
}

function createHost({ settings, machine, environment, clock, log }: MachineDeps): Host {
  const { machineIdFile: machineIdFiles, bootIdFile: bootIdFiles } = settings.flags
  return {
    bootedAt: readBootTime(),
    parallelStarts: computeParallelStarts(machine.onlineCpus.length),
    podNetwork,
    statsFiles,
    kernel: readKernel,
    identity: () => readNodeIdentity({ machineIdFiles, bootIdFiles }),
    hugepages: () => readHugepages(),
    numaNodes: () => readNumaNodes(machine),
    cpuPlaces: () => readCpuPlaces(),
    cgroupReader: () => createCgroupReader(machine.cgroupVersion),
    openKernelLog: () => openKernelLog(),
    readAddress: (profile) => readNodeAddress(profile),
    readSpace: readFileSystemSpace,
    readSubordinateIds: (signal) => readSubordinateIds({ clock, path: environment['PATH'] ?? '' }, signal),
    prepareRoot,
    findSandboxProfile,
    checkWritable,
    makeShared: (path, signal) => makeShared({ clock }, path, signal),
    openGuardedFiles: (signal) =>
      createGuardedFiles({ clock, log, findLauncher: () => findDeathSignal(clock, signal) }),
    readIfPresent,
    stateFile: (path) => createStateFile(path, clock),
    recordFolder: createRecordFolder,
    lastGoodManifests: createLastGoodManifests,
    podFiles: (rootDirectory) => createPodFiles({ rootDirectory }),
    csiFiles: (rootDirectory) => createCsiFiles({ rootDirectory }),
    userNamespaceRecords: createUserNamespaceRecords,
    findShims,
    killProcess: (identity) => signalProcess(identity, 'SIGKILL'),
    async openLogind() {
      // Loaded after the pods.
      const { createLogindAccess } = await import('../node/shutdown/create-logind-access.ts')
      return createLogindAccess({ environment, clock })
    },
    openMounter: (options) => createMounter({ clock, ...options }),
    openCgroups: createCgroups,
    openVolumes: createVolumeHost,
  }
}

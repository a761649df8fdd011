import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { systemClock } from '../../../base/async/clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { createLogger } from '../../../base/telemetry/create-logger.ts'
import { API_SERVICE_PORT } from '../../../model/networking/api-service-port.ts'
import { openAppendedFile } from '../../../system/files/append-file.ts'
import { listProvisionedFolders, makeProvisionedFolder } from '../../../system/directories/provisioned-folders.ts'
import { createGuardedFiles } from '../../../system/guarded/create-guarded-files.ts'
import { findDeathSignal } from '../../../system/processes/find-death-signal.ts'
import { CniResults } from '../../../system/network/cni-results.ts'
import { Conntrack } from '../../../system/network/conntrack.ts'
import { Iptables } from '../../../system/network/iptables.ts'
import { Nft } from '../../../system/network/nft.ts'
import type { NodeControllers } from '../node-deps.ts'
import { CLUSTER_DOMAIN } from '../node-layout.ts'
import { openClient } from './open-client.ts'
import { ensureBridgeIsSeen } from '../network/policy-refusal.ts'
import { POD_NETWORK } from '../runtime/cni.ts'
import { readNameServers } from '../network/read-name-servers.ts'

const DNS_PORT = 53

/** Runs the workload controllers of a standalone node, in this process, as a client of its API. */
export async function runNodeControllers(
  random: () => number,
  controllers: NodeControllers,
  signal: AbortSignal,
): Promise<void> {
  const {
    kubeconfig,
    nodeName,
    without,
    logFile,
    services,
    serviceRanges,
    podRanges,
    seesBridge,
    bridge,
    policyRefusal,
  } = controllers
  const { volumes, ingress, masqueradeProgram } = controllers
  // Loaded only here: the other commands need not spend the time and memory.
  const { runControllers } = await import('../../../controllers/composition/run-controllers.ts')
  using file = openAppendedFile(logFile)
  const log = createLogger({
    format: 'text',
    program: 'controllers',
    verbosity: 2,
    clock: systemClock,
    pid: process.pid,
    write: (line) => file.write(line),
  })
  await using tasks = new TaskGroup(signal)
  const client = await openClient(random, kubeconfig, tasks)
  // One for all tables: it watches them with one process.
  const rules = new Nft(systemClock)
  const iptables = new Iptables(systemClock)
  const proxy = {
    place:
      controllers.rulesProgram === 'iptables'
        ? { chainPrefix: services.chainPrefix, iptables }
        : { table: services.table, rules },
    network: { serviceRanges, podRanges, seesBridge },
    flows: new Conntrack(systemClock),
    ensureBridgeIsSeen,
  }
  const { dnsAddress, apiAddress } = services
  const policies =
    policyRefusal === undefined
      ? {
          table: services.policyTable,
          network: { bridge, dnsAddresses: [dnsAddress] },
          rules,
          ensureBridgeIsSeen,
          attached: new CniResults(POD_NETWORK),
        }
      : { refusal: policyRefusal }
  const dns = {
    address: dnsAddress,
    port: DNS_PORT,
    domain: CLUSTER_DOMAIN,
    ranges: [...serviceRanges, ...podRanges],
    servers: () => readNameServers([dnsAddress, apiAddress]),
  }
  const findLauncher = () => findDeathSignal(systemClock, signal)
  using guarded = createGuardedFiles({ clock: systemClock, log, findLauncher })
  const folders = {
    root: volumes,
    make: (name: string) => makeProvisionedFolder(volumes, name),
    // Pods wrote what is in it.
    remove: (name: string, s: AbortSignal) => guarded.removeTree(`${volumes}/${name}`, s),
    list: () => listProvisionedFolders(volumes),
  }
  const masqueradePlaces = {
    nft: { table: services.masqueradeTable, rules },
    iptables: { chainPrefix: services.masqueradePrefix, iptables },
  }
  const masquerade = masqueradeProgram && { podRanges, ...masqueradePlaces[masqueradeProgram] }
  const parts = { proxy, dns, policies, ingress: { ...ingress, sharedPort: API_SERVICE_PORT }, masquerade, folders }
  const deps = { client, nodeName, without, ...parts, clock: systemClock, random, newUid: randomUUID, log }
  await runControllers(deps, signal)
}

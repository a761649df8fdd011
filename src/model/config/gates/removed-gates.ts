/** By the first release without them: gates of features that are always on since. */
const ALWAYS_ON: Readonly<Record<string, string>> = {
  '1.8': 'DynamicVolumeProvisioning',
  '1.10': 'AllowExtTrafficLocalEndpoints',
  '1.12': 'ReadOnlyAPIDataVolumes',
  '1.14': 'MountPropagation',
  '1.16': 'CSIPersistentVolume CustomPodDNS HugePages KubeletPluginsWatcher PodReadinessGates VolumeScheduling',
  '1.17': 'EnableAggregatedDiscoveryTimeout GCERegionalPersistentDisk PersistentLocalVolumes',
  '1.18':
    'CustomResourceDefaulting CustomResourcePublishOpenAPI CustomResourceSubresources CustomResourceValidation ' +
    'CustomResourceWebhookConversion PodPriority ResourceQuotaScopeSelectors ScheduleDaemonSetPods TaintNodesByCondition',
  '1.19': 'PodShareProcessNamespace VolumeSubpathEnvExpansion',
  '1.20': 'DefaultIngressClass ServiceLoadBalancerFinalizer SupportIPVSProxyMode TaintBasedEvictions',
  '1.21':
    'AttachVolumeLimit BlockVolume CSIBlockVolume CSIDriverRegistry CSINodeInfo EvenPodsSpread RotateKubeletClientCertificate ' +
    'TokenRequest TokenRequestProjection VolumePVCDataSource WindowsGMSA WindowsRunAsUserName',
  '1.22':
    'CRIContainerLogRotation ExternalPolicyForExternalIP LegacyNodeRoleBehavior NodeDisruptionExclusion RootCAConfigMap RunAsGroup ' +
    'SCTPSupport ServiceAppProtocol ServiceNodeExclusion VolumeSnapshotDataSource',
  '1.23':
    'AllowInsecureBackendProxy BoundServiceAccountTokenVolume CronJobControllerV2 NodeLease ServiceAccountIssuerDiscovery ' +
    'StartupProbe SupportNodePidsLimit SupportPodPidsLimit Sysctls',
  '1.24':
    'HugePageStorageMediumSize ImmutableEphemeralVolumes NamespaceDefaultLabelName RuntimeClass SetHostnameAsFQDN ' +
    'ValidateProxyRedirects WarningHeaders',
  '1.25':
    'CSIServiceAccountToken CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy EndpointSlice EndpointSliceNodeName ' +
    'EndpointSliceProxying GenericEphemeralVolume IngressClassNamespacedParams PodDisruptionBudget SelectorIndex ' +
    'StorageObjectInUseProtection TTLAfterFinished VolumeSubpath WindowsEndpointSliceProxying',
  '1.26':
    'CSIMigrationOpenStack CSRDuration DefaultPodTopologySpread IndexedJob NonPreemptingPriority PodAffinityNamespaceSelector ' +
    'PodOverhead PreferNominatedNode ServiceLBNodePortControl ServiceLoadBalancerClass SuspendJob',
  '1.27':
    'CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk ControllerManagerLeaderMigration DaemonSetUpdateSurge ' +
    'EphemeralContainers ExpandCSIVolumes ExpandInUsePersistentVolumes ExpandPersistentVolumes IPv6DualStack IdentifyPodOS ' +
    'LocalStorageCapacityIsolation NetworkPolicyEndPort StatefulSetMinReadySeconds',
  '1.28':
    'AdvancedAuditing CSIMigrationGCE CSIStorageCapacity DelegateFSGroupToCSIDriver DevicePlugins DisableAcceleratorUsageMetrics ' +
    'DryRun EndpointSliceTerminatingCondition KubeletCredentialProviders MixedProtocolLBService PodSecurity ServiceIPStaticSubrange ' +
    'ServiceInternalTrafficPolicy WindowsHostProcessContainers',
  '1.29':
    'CSIMigrationvSphere CronJobTimeZone DownwardAPIHugePages GRPCContainerProbe JobMutableNodeSchedulingDirectives ' +
    'JobTrackingWithFinalizers LegacyServiceAccountTokenNoAutoGeneration OpenAPIV3 ProbeTerminationGracePeriod ' +
    'RetroactiveDefaultStorageClass SeccompDefault TopologyManager',
  '1.30':
    'APISelfSubjectReview CSIMigrationAzureFile ExpandedDNSConfig ExperimentalHostUserNamespaceDefaulting IPTablesOwnershipCleanup ' +
    'KubeletPodResources KubeletPodResourcesGetAllocatable LegacyServiceAccountTokenTracking MinimizeIPTablesRestore ' +
    'ProxyTerminatingEndpoints RemoveSelfLink',
  '1.31':
    'APIPriorityAndFairness CSINodeExpandSecret ConsistentHTTPGetHandlers CustomResourceValidationExpressions JobReadyPods ' +
    'ReadWriteOncePod ServiceNodePortStaticSubrange SkipReadOnlyValidationGCE',
  '1.32':
    'CloudDualStackNodeIPs HPAContainerMetrics KMSv2 KMSv2KDF LegacyServiceAccountTokenCleanUp MinDomainsInPodTopologySpread ' +
    'NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach PodHostIPs ServerSideApply ServerSideFieldValidation ' +
    'StableLoadBalancerNodeSet ValidatingAdmissionPolicy ZeroLimitedNominalConcurrencyShares',
  '1.33':
    'APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields CPUManager ' +
    'DisableCloudProviders DisableKubeletCloudCredentialProviders EfficientWatchResumption JobPodFailurePolicy ' +
    'KubeProxyDrainingTerminatingNodes PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime RemainingItemCount ' +
    'WatchBookmark',
  '1.34': 'DevicePluginCDIDevices ElasticIndexedJob PodDisruptionConditions StatefulSetStartOrdinal',
  '1.35':
    'AllowServiceLBStatusOnNonLB ComponentSLIs CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel ' +
    'ProbeHostPodSecurityStandards SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP ' +
    'StrictCostEnforcementForWebhooks',
  '1.36':
    'CSIMigrationPortworx HonorPVReclaimPolicy MemoryManager ServiceTrafficDistribution StructuredAuthorizationConfiguration ' +
    'TopologyAwareHints WatchFromStorageWithoutResourceVersion',
}

/** By the first release without them: gates of features that are gone. */
const GONE: Readonly<Record<string, string>> = {
  '1.8': 'AffinityInAnnotations',
  '1.10': 'KubeletConfigFile PVCProtection',
  '1.11': 'Accelerators',
  '1.12': 'DynamicProvisioningScheduling ServiceProxyAllowExternalIPs',
  '1.14': 'EnableEquivalenceClassCache Initializers',
  '1.16': 'DebugContainers ExperimentalCriticalPodAnnotation',
  '1.17': 'MountContainers RequestManagement',
  '1.19': 'DynamicAuditing ResourceLimitsPriorityFunction',
  '1.21':
    'CSIMigrationAWSComplete CSIMigrationAzureDiskComplete CSIMigrationAzureFileComplete CSIMigrationGCEComplete ' +
    'CSIMigrationOpenStackComplete HyperVContainer',
  '1.22': 'BalanceAttachedNodeVolumes CSIMigrationvSphereComplete ServiceTopology',
  '1.24': 'StreamingProxyRedirects',
  '1.26': 'DynamicKubeletConfig',
  '1.28': 'NetworkPolicyStatus PodHasNetworkCondition UserNamespacesStatelessPodsSupport',
  '1.29': 'MultiCIDRRangeAllocator',
  '1.30': 'SecurityContextDeny',
  '1.31':
    'CSIMigrationRBD DefaultHostNetworkHostPortsInPodTemplates InTreePluginAWSUnregister InTreePluginAzureDiskUnregister ' +
    'InTreePluginAzureFileUnregister InTreePluginGCEUnregister InTreePluginOpenStackUnregister InTreePluginRBDUnregister ' +
    'InTreePluginvSphereUnregister',
  '1.32': 'DRAControlPlaneController',
  '1.33': 'VolumeCapacityPriority',
  '1.34': 'LegacySidecarContainers',
  '1.35': 'UserNamespacesPodSecurityStandards',
  '1.36': 'InPlacePodVerticalScalingAllocatedStatus InTreePluginPortworxUnregister',
}

/** What does the same as a feature that is gone. */
const SUCCESSORS: Readonly<Record<string, string>> = {
  DynamicKubeletConfig: '--config and --config-dir',
}

/** What became of a gate that an earlier release knew. */
export function explainRemovedGate(name: string): string | undefined {
  const always = releaseOf(name, ALWAYS_ON)
  if (always !== undefined)
    return `leave it out: the gate was removed in Kubernetes ${always}, its feature is always on`
  const gone = releaseOf(name, GONE)
  const instead = SUCCESSORS[name] === undefined ? '' : `; use ${SUCCESSORS[name]}`
  return gone && `leave it out: the gate was removed in Kubernetes ${gone}, and its feature with it${instead}`
}

function releaseOf(name: string, table: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(table).find((release) => table[release]?.split(' ').includes(name))
}

import { inject, type InjectionKey, type Ref, ref } from 'vue'

export type Language = 'zh' | 'en'

/** Every word of the page, in Chinese and in English. `{0}` stands for what is put in. */
const WORDS = {
  // run
  run: ['运行', 'Run'],
  'status.idle': ['待启动', 'Created'],
  'status.running': ['运行中', 'Running'],
  'status.completed': ['完成', 'Done'],
  'status.failed': ['失败', 'Failed'],
  'status.skipped': ['已跳过', 'Skipped'],
  'status.waiting': ['等待回答', 'Waiting'],
  'status.stopped': ['已中止', 'Stopped'],
  version: ['版本 {0}', 'version {0}'],
  tokens: ['{0} tokens', '{0} tokens'],
  tokensTitle: ['输入 {0} · 输出 {1} tokens', '{0} tokens in · {1} out'],
  visitNumber: ['第 {0} 次', 'visit {0}'],
  elapsed: ['耗时', 'Duration'],
  started: ['开始于 {0}', 'Started {0}'],
  cancel: ['取消运行', 'Cancel'],
  cancelSure: ['确定取消这次运行？', 'Cancel this run?'],
  cancelled: ['运行已被取消', 'The run was cancelled'],
  runFailed: ['运行失败', 'The run failed'],
  failedAt: ['失败的节点：{0}', 'Failed at: {0}'],
  runOutput: ['运行结果', 'Output of the run'],
  noOutputYet: ['运行结束后显示在这里', 'Shown here when the run has ended'],
  waitingToStart: ['运行尚未启动，启动后这里会实时更新。', 'The run has not started yet; this page follows it once it does.'],
  missedEvents: ['更早的 {0} 条事件已不再保留', '{0} earlier events are no longer kept'],
  visits: ['节点执行', 'Visits'],
  off: ['画布外', 'off-canvas'],
  // panels
  live: ['实时状态', 'Live status'],
  step: ['第 {0} 轮模型调用', 'request {0} to the model'],
  calling: ['正在调用 {0}', 'calling {0}'],
  thinking: ['思考过程', 'Thinking'],
  todo: ['待办清单', 'To do'],
  tools: ['工具调用', 'Tool calls'],
  log: ['执行日志', 'Log'],
  variables: ['变量与快照', 'Variables and snapshot'],
  resolved: ['该节点取得的输入', 'What the node resolved'],
  snapshot: ['执行后的上下文快照', 'Context snapshot after the visit'],
  snapshotOmitted: ['快照过大，未能显示', 'The snapshot is too large to show'],
  nothing: ['（空）', '(nothing)'],
  arguments: ['参数', 'Arguments'],
  result: ['结果', 'Result'],
  'tool.running': ['调用中', 'running'],
  'tool.completed': ['完成', 'done'],
  'tool.failed': ['失败', 'failed'],
  more: ['展开全部', 'Show all'],
  less: ['收起', 'Show less'],
  loadOutput: ['输出较大，点击加载', 'The output is large: load it'],
  cutOutput: ['仅显示前 {0} KB', 'the first {0} KB are shown'],
  loading: ['加载中…', 'Loading…'],
  expandAll: ['全部展开', 'Expand all'],
  collapseAll: ['全部折叠', 'Collapse all'],
  chain: ['决策链', 'Decisions'],
  final: ['结束', 'final'],
  files: ['工作空间文件', 'Workspace files'],
  download: ['下载 zip', 'Download zip'],
  filesCount: ['{0} 个文件', '{0} files'],
  // questions
  question: ['需要您的回答', 'Your answer is needed'],
  questionsOpen: ['{0} 个问题等待回答', '{0} questions are waiting'],
  answerNow: ['去回答', 'Answer'],
  answered: ['已提交：{0}', 'Answered: {0}'],
  confirm: ['确认', 'Confirm'],
  submit: ['提交', 'Submit'],
  sending: ['提交中…', 'Sending…'],
  typeAnswer: ['请输入', 'Type your answer'],
  ownAnswer: ['自定义回答', 'Your own answer'],
  chooseMany: ['可多选', 'Choose one or more'],
  minimise: ['收起问题', 'Minimise'],
  asker: ['来自 {0}', 'from {0}'],
  previous: ['上一个', 'Previous'],
  next: ['下一个', 'Next'],
  // graph
  graph: ['流程图', 'Graph'],
  zoomIn: ['放大', 'Zoom in'],
  zoomOut: ['缩小', 'Zoom out'],
  fit: ['适应画面', 'Fit'],
  pending: ['未执行', 'not visited'],
  // pages
  workflows: ['工作流', 'Workflows'],
  search: ['搜索', 'Search'],
  noWorkflows: ['没有可调用的工作流', 'There are no workflows to call'],
  startRun: ['开始运行', 'Start a run'],
  runs: ['运行记录', 'Runs'],
  definition: ['定义', 'Definition'],
  allStatuses: ['全部状态', 'All statuses'],
  noRuns: ['还没有运行记录', 'No runs yet'],
  moreRuns: ['加载更多', 'Load more'],
  createdAt: ['创建时间', 'Created'],
  statusWord: ['状态', 'Status'],
  required: ['必填', 'required'],
  optional: ['可选', 'optional'],
  noInputs: ['这个工作流不需要输入', 'This workflow takes no inputs'],
  addFiles: ['添加文件', 'Add files'],
  addFolder: ['添加目录', 'Add a folder'],
  filePath: ['{0} 在工作空间中的路径', 'Path of {0} in the workspace'],
  remove: ['移除', 'Remove'],
  isRequired: ['此项必填', 'This is required'],
  notNumber: ['应为数字', 'This must be a number'],
  notArray: ['应为 JSON 数组', 'This must be a JSON array'],
  notObject: ['应为 JSON 对象', 'This must be a JSON object'],
  noFile: ['请先添加文件', 'Add the file first'],
  failStrategy: ['失败策略', 'On failure'],
  'fail.default': ['按节点设置', 'As the nodes say'],
  'fail.abort': ['中止运行', 'Abort the run'],
  'fail.skip': ['跳过失败的节点', 'Skip the node'],
  save: ['保存为新版本', 'Save as a new version'],
  saved: ['已保存为版本 {0}', 'Saved as version {0}'],
  validate: ['校验', 'Validate'],
  valid: ['没有问题', 'No problems'],
  problems: ['{0} 个问题', '{0} problems'],
  notJson: ['不是有效的 JSON：{0}', 'This is not JSON: {0}'],
  json: ['JSON', 'JSON'],
  unsaved: ['有未保存的修改', 'Not saved yet'],
  needsAdmin: ['查看定义需要管理密钥（scope admin）', 'Definitions need a key of scope admin'],
  // shell
  key: ['API Key', 'API key'],
  keyAsk: ['请输入 API Key 以继续', 'An API key opens this page'],
  keyHint: [
    '密钥只保存在本标签页（sessionStorage），不会出现在网址中。本地开发的密钥在 .stepweave/dev.json。',
    'It stays in this tab (sessionStorage) and never stands in an address. On a laptop: .stepweave/dev.json.',
  ],
  keyEnter: ['进入', 'Continue'],
  keyForget: ['退出', 'Sign out'],
  theme: ['主题', 'Theme'],
  'theme.auto': ['跟随系统', 'System'],
  'theme.light': ['浅色', 'Light'],
  'theme.dark': ['深色', 'Dark'],
  language: ['语言', 'Language'],
  notFound: ['没有这个页面', 'There is no such page'],
  retry: ['重试', 'Try again'],
  tokenEnded: ['查看令牌无效或已过期，请从来源页面重新打开', 'The view token is not valid any more: open the page again from where you came'],
} as const satisfies Record<string, readonly [zh: string, en: string]>

export type Word = keyof typeof WORDS

export function say(language: Language, word: Word, ...put: readonly (string | number)[]): string {
  const text = WORDS[word][language === 'zh' ? 0 : 1]
  return text.replace(/\{(\d)\}/g, (_, place: string) => String(put[Number(place)] ?? ''))
}

const LANGUAGE: InjectionKey<Ref<Language>> = Symbol('language')

export const provideLanguageAs = LANGUAGE

/** The words in the language of the page, for templates: `t('run')`. */
export function useWords() {
  const language = inject(LANGUAGE, () => ref(preferredLanguage()), true)
  return { language, t: (word: Word, ...put: readonly (string | number)[]) => say(language.value, word, ...put) }
}

export function preferredLanguage(): Language {
  return (navigator.languages[0] ?? navigator.language).toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

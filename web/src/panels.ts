// The viewer's parts for another Vue 3 application (seed §17.3). They take an `Api` of stepweave-client, whose base URL
// may be a proxy that adds the key; styles/tokens.css has the variables that colour them.

import './shell/older-browsers'
import './styles/tokens.css'
import './styles/controls.css'
import './styles/markdown.css'
import './styles/nodes.css'

export { default as FlowGraph } from './graph/FlowGraph.vue'
export { default as MarkdownText } from './markdown/MarkdownText.vue'
export { default as AskPanel } from './run/AskPanel.vue'
export { default as DecisionChain } from './run/DecisionChain.vue'
export { Folding } from './run/folding'
export { default as LogLines } from './run/LogLines.vue'
export { default as OutputView } from './run/OutputView.vue'
export { default as RunView } from './run/RunView.vue'
export { default as TodoList } from './run/TodoList.vue'
export { default as ToolCalls } from './run/ToolCalls.vue'
export { useRun } from './run/useRun'
export { default as ValueTable } from './run/ValueTable.vue'
export { default as VisitGroup } from './run/VisitGroup.vue'
export { provideLanguageAs } from './shell/words'

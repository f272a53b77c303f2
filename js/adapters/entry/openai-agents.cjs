'use strict';

module.exports = require('../openai-agents.js')(require('@openai/agents'));
